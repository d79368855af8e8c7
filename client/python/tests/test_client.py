"""The client against a real grid."""

import hashlib
import os
import threading
import time

import drover

from .grid import ClientTest, GridTest, post


setUpModule = GridTest.up


class Calls(ClientTest):
    def test_lists_say_what_there_is(self):
        self.assertEqual([(s.name, s.processors, s.missing) for s in self.client.sites()], [("lyon", 4, None), ("nancy", 2, None)])
        services = {s.name: s for s in self.client.services()}
        self.assertEqual(set(services), {"arrays", "sleep", "copy", "talk"})
        self.assertEqual(services["copy"].sites, ["lyon", "nancy"])
        arguments = {a.name: (a.type, a.required, a.default) for a in services["talk"].arguments}
        self.assertEqual(arguments["word"], ("string", True, None))
        self.assertEqual(arguments["pause"], ("float", False, 0.0))
        self.assertEqual(arguments["code"], ("int", False, 0))

    def test_a_call_brings_files_there_and_back(self):
        d = self.scratch()
        (d / "in").write_bytes(b"some words\n" * 100_000)
        job = self.client.call("copy", source=d / "in", copy=drover.Output(d / "out"))
        self.assertEqual((job.state, job.outcome.exit_code), ("done", 0))
        self.assertEqual((d / "out").read_bytes(), (d / "in").read_bytes())
        self.assertEqual([p.name for p in sorted(d.iterdir())], ["in", "out"])
        self.assertEqual(job.outputs["copy"].sha256, hashlib.sha256((d / "in").read_bytes()).hexdigest())

    def test_bytes_are_a_file_also_no_bytes(self):
        for content in (b"", b"x", os.urandom(3 << 18)):
            job = self.client.call("copy", source=content)
            self.assertEqual(job.read("copy"), content)

    def test_values_arrive_as_they_are(self):
        word = "a'b \"c\" $HOME ü \n;"
        job = self.client.call("talk", word=word, loud=True)
        self.assertEqual(b"".join(job.logs()).decode(), f"{word} true\nagain\n")
        self.assertEqual(b"".join(job.logs(stderr=True)), b"oops\n")
        self.assertEqual(b"".join(job.logs(offset=len(word.encode()) + 6)), b"again\n")

    def test_a_log_is_followed_to_the_end_of_its_job(self):
        job = self.client.submit("talk", word="now", pause=0.5)
        pieces = list(job.logs(follow=True))
        self.assertEqual(b"".join(pieces), b"now false\nagain\n")
        self.assertGreater(len(pieces), 1)

    def test_a_job_that_fails_is_an_error_with_the_job(self):
        with self.assertRaises(drover.JobFailed) as caught:
            self.client.call("talk", word="x", code=3)
        self.assertEqual((caught.exception.job.state, caught.exception.job.outcome.exit_code), ("failed", 3))
        self.assertIn("exit status 3", str(caught.exception))

    def test_options_reach_the_job(self):
        options = drover.Options(width=2, walltime=77, cpu=0.25, labels={"k": "v"}, owner="ada")
        job = self.client.submit("sleep", options, seconds=0, processors=2)
        self.assertEqual((job.width, job.raw["shape"]["walltime"]), (2, "77s"))
        self.assertEqual(job.raw["needs"]["declaredCpu"], 0.25)
        self.assertEqual((job.raw["request"]["labels"], job.raw["request"]["owner"]), ({"k": "v"}, "ada"))

    def test_why_tells_of_every_site(self):
        job = self.client.submit("sleep", seconds=0)
        decision = self.client.why(job.id)
        self.assertEqual(decision.chosen, job.site)
        self.assertEqual({c.site for c in decision.candidates}, {"lyon", "nancy"})
        self.assertTrue(all(c.kind == "promised" and c.missing is None for c in decision.candidates))

    def test_jobs_are_found_again(self):
        job = self.client.submit("sleep", drover.Options(owner="grace"), seconds=0).wait()
        self.assertEqual(self.client.job(job.id).state, "done")
        self.assertIn(job.id, [j.id for j in self.client.jobs("owner=grace")])


class Order(ClientTest):
    def test_a_job_waits_for_those_that_it_comes_after(self):
        first = self.client.submit("sleep", seconds=1)
        then = self.client.submit("sleep", drover.Options(after=[first], after_any=[first.id]), seconds=0)
        self.assertEqual((then.refresh().state, then.awaits), ("held", [first.id]))
        then.wait(40)
        self.assertEqual((then.state, then.awaits, first.refresh().state), ("done", [], "done"))

    def test_who_comes_after_a_job_that_fails_is_cancelled(self):
        first = self.client.submit("talk", word="x", pause=0.5, code=3)
        done = self.client.submit("sleep", drover.Options(after=[first]), seconds=0)
        ended = self.client.submit("sleep", drover.Options(after_any=[first]), seconds=0)
        self.assertEqual((done.wait(40).state, ended.wait(40).state), ("cancelled", "done"))
        self.assertIn(first.id, done.outcome.reason)
        with self.assertRaises(drover.GridError) as caught:
            self.client.submit("sleep", drover.Options(after=[drover.new_job_id()]))
        self.assertEqual(caught.exception.reason, "unknown-job")

    def test_what_fails_is_tried_again(self):
        job = self.client.submit("talk", drover.Options(retries=2, retry_on=[1, 75]), word="x", code=75).wait(40)
        self.assertEqual((job.state, job.retried, job.attempt), ("failed", 2, 3))
        job = self.client.submit("talk", drover.Options(retries=2, retry_on=[1, 75]), word="x", code=3).wait(40)
        self.assertEqual((job.state, job.retried), ("failed", 0))

    def test_a_request_may_be_for_one_site_alone(self):
        self.assertEqual(self.client.submit("sleep", drover.Options(site="nancy"), seconds=0).site, "nancy")


class Waiting(ClientTest):
    def test_a_wait_that_takes_too_long_leaves_the_job_running(self):
        job = self.client.submit("sleep", seconds=60)
        with self.assertRaisesRegex(TimeoutError, "has not ended"):
            job.wait(0.2)
        self.assertFalse(job.refresh().ended)
        self.assertEqual(job.cancel().wait(20).state, "cancelled")
        self.assertEqual(job.cancel().state, "cancelled")

    def test_the_first_to_end_is_the_one(self):
        slow = [self.client.submit("sleep", seconds=60) for _ in range(2)]
        quick = self.client.submit("sleep", seconds=0.3)
        before = threading.active_count()
        began = time.monotonic()
        self.assertIs(self.client.wait_any(slow + [quick], 40), quick)
        self.assertLess(time.monotonic() - began, 20, "the waits for the others are ended")
        self.assertLessEqual(threading.active_count(), before, "threads are left")
        with self.assertRaises(TimeoutError):
            self.client.wait_any(slow, 0.1)
        for job in slow:
            job.cancel()
        self.assertEqual({j.state for j in self.client.wait_all(slow, 20)}, {"cancelled"})

    def test_futures_end_with_their_jobs(self):
        futures = [self.client.call_async("talk", word=str(i)) for i in range(5)]
        self.assertEqual({f.result(30).state for f in futures}, {"done"})
        with self.assertRaises(drover.JobFailed):
            self.client.call_async("talk", word="x", code=1).result(30)

    def test_a_job_that_moves_is_followed(self):
        blocks = []
        for site, processors in (("lyon", 4), ("nancy", 2)):
            blocks.append(self.client.submit("sleep", seconds=60, processors=processors))
            self.assertEqual(blocks[-1].site, site)
        job = self.client.submit("sleep", seconds=0.1)
        came_to = job.site
        goes_to = "nancy" if came_to == "lyon" else "lyon"
        future = Follower(job)
        post(self.grid.agent, "AgentService/MoveJob", f'{{"jobId":"{job.id}","to":"{goes_to}"}}'.encode())
        self.client.wait_any([Arrival(job.id, self.client, goes_to)], 20)
        for b in blocks:
            b.cancel()
        ended = future.result()
        self.assertEqual((ended.state, ended.site, ended._epoch), ("done", goes_to, 1))
        # One that knows only the first place finds it, too.
        old = drover.Job(self.client, job.id, at=drover.pursuit.Target(came_to, self.server(came_to)))
        self.assertEqual(old.refresh().site, goes_to)

    def test_a_server_that_is_killed_comes_back_and_the_wait_goes_on(self):
        job = self.client.submit("sleep", seconds=2)
        waiting = Follower(job)
        self.grid.kill(job.site)
        self.grid.start(job.site)
        self.assertEqual(waiting.result().state, "done")
        self.grid.await_sites(2)


class Follower:
    """Waits for a job in a thread of its own."""

    def __init__(self, job):
        self.job, self.error = job, None
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self):
        try:
            self.job.wait(60)
        except Exception as e:
            self.error = e

    def result(self):
        self.thread.join()
        if self.error:
            raise self.error
        return self.job


class Arrival(drover.Job):
    """A job that counts as ended when it has come to a site."""

    def __init__(self, id, client, site):
        super().__init__(client, id)
        self.goal = site

    @property
    def ended(self):
        return self.site == self.goal and self.state == "waiting"

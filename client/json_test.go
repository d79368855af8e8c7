package client

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/seed-9b8f70bb/drover/client/rpc"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// mirrors are the types of the Go API by the messages that they mirror.
var mirrors = map[string]any{
	"Job": Job{}, "TaskNeeds": TaskNeeds{}, "Shape": Shape{}, "Outcome": Outcome{}, "Output": Output{}, "Keep": Kept{},
	"Dependency": Dependency{}, "DecisionRecord": Decision{}, "Candidate": Candidate{}, "Missing": Missing{},
	"Agreement": Terms{},
	"KnownSite": Site{}, "Node": Node{}, "SiteStatus": Status{}, "Accuracy": Accuracy{}, "Errors": Errors{},
	"AgreementCounts": Agreements{}, "DataUsage": DataUsage{}, "AgentServiceGetSiteResponse": SiteDetail{},
	"PolicyState": PolicyState{}, "PolicyFigure": Figure{}, "PolicySwitch": PolicySwitch{},
	"WatchSiteResponse": SiteUse{},
	"NodeUse":           NodeUse{}, "JobUse": JobUse{}, "OfferedService": Service{}, "Argument": Argument{},
	"Move":        Move{},
	"Reservation": Reservation{}, "Data": Data{}, "ReallocateResponse": Reallocation{}, "RoundRecord": RoundRecord{},
	"ReallocatedJob": ReallocatedJob{}, "AgentServiceListJobsResponse": JobList{}, "ListSitesResponse": SiteList{},
	"ListServicesResponse": ServiceList{}, "AgentServiceListMovesResponse": MoveList{},
	"AgentServiceListReservationsResponse": ReservationList{}, "AgentServiceListDataResponse": DataList{},
}

func TestAValueHasTheJSONOfItsMessage(t *testing.T) {
	for name, zero := range mirrors {
		t.Run(name, func(t *testing.T) {
			made := reflect.New(reflect.TypeOf(zero))
			fill(made.Elem())
			text, err := json.Marshal(made.Interface())
			if err != nil {
				t.Fatal(err)
			}
			kind, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName("drover.v1." + name))
			if err != nil {
				t.Fatal(err)
			}
			m := kind.New().Interface()
			if err := protojson.Unmarshal(text, m); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			back := reflect.New(reflect.TypeOf(zero))
			rpc.From(m).Decode(back.Interface())
			same := cmp.Options{cmpopts.IgnoreUnexported(Data{}), cmpopts.IgnoreTypes(rpc.Message{})}
			if diff := cmp.Diff(made.Interface(), back.Interface(), same); diff != "" {
				t.Errorf("(-made +back)\n%s\n%s", diff, text)
			}
			again, err := json.Marshal(back.Interface())
			if err != nil || string(again) != string(text) {
				t.Errorf("of the received value: %s, %v, want %s", again, err, text)
			}
		})
	}
}

// words are valid words of the string types that mirror enums.
var words = map[reflect.Type]any{
	reflect.TypeFor[State](): Held, reflect.TypeFor[EstimateKind](): Probable,
	reflect.TypeFor[ElementType](): Complex128,
	reflect.TypeFor[DataMode]():    DataSticky, reflect.TypeFor[AgreementState](): AgreementBrokenByUser,
	reflect.TypeFor[ArgumentType](): TypeFile, reflect.TypeFor[MoveState](): MoveAborted,
	reflect.TypeFor[ReservationState](): ReservationOver,
	reflect.TypeFor[Missing](): Missing{Reason: "refused", Detail: &problem.Problem{
		Reason: problem.TooWide, Message: "m",
	}},
	reflect.TypeFor[time.Time](): time.Unix(1700000000, 5000).UTC(),
}

// fill sets all that a message could say.
func fill(v reflect.Value) {
	if word, ok := words[v.Type()]; ok {
		v.Set(reflect.ValueOf(word))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if _, ok := v.Type().Field(i).Tag.Lookup("proto"); ok {
				fill(v.Field(i))
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		if p, ok := v.Interface().(*problem.Problem); ok {
			p.Reason = problem.TooLong
			return
		}
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0))
		fill(v.Index(1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		element := reflect.New(v.Type().Elem()).Elem()
		fill(element)
		v.SetMapIndex(reflect.ValueOf("key"), element)
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint32, reflect.Uint64:
		v.SetUint(7)
	default:
		panic(fmt.Sprint("a field of type ", v.Type()))
	}
}

func TestAReceivedValueKeepsAllFieldsForItsJSON(t *testing.T) {
	text := `{"id":"x","request":{"service":"lu","memoryBytes":"5"}}`
	kind, err := protoregistry.GlobalTypes.FindMessageByName("drover.v1.Job")
	if err != nil {
		t.Fatal(err)
	}
	m := kind.New().Interface()
	if err := protojson.Unmarshal([]byte(text), m); err != nil {
		t.Fatal(err)
	}
	job := new(Job)
	rpc.From(m).Decode(job)
	if got, err := json.Marshal(JobList{Jobs: []*Job{job}}); err != nil || string(got) != `{"jobs":[`+text+`]}` {
		t.Errorf("%s, %v", got, err)
	}
}

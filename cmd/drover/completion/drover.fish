# Completion of drover for fish: drover completion fish | source
function __drover_candidates
	set -l before (commandline -opc)
	$before[1] complete -- $before[2..-1] (commandline -ct | string collect --allow-empty) 2>/dev/null
end
complete -c drover -k -f -a '(__drover_candidates)'
complete -c drover -F -n 'not string length -q -- (__drover_candidates)'

# Completion of drover for bash: eval "$(drover completion bash)"
_drover() {
	local candidate rest
	COMPREPLY=()
	while IFS=$'\t' read -r candidate rest; do
		COMPREPLY+=("$candidate")
	done < <("$1" complete --line "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
	if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then
		compopt -o nospace
	fi
}
complete -o default -o nosort -F _drover drover

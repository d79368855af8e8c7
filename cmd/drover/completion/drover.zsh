#compdef drover
# Completion of drover for zsh: source <(drover completion zsh)
_drover() {
	local line
	local -a described
	for line in "${(@f)$("${words[1]}" complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
		[[ -n $line ]] && described+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
	done
	if (( ! $#described )); then
		compset -P '*='
		_files
	elif [[ ${described[1]%%:*} == *= ]]; then
		_describe -V drover described -S ''
	else
		_describe -V drover described
	fi
}
compdef _drover drover

package rpc

import (
	"maps"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

func TestEveryRuleIsAboutAFieldThatExists(t *testing.T) {
	names := maps.Clone(checkedByHandler)
	for name := range rules {
		names[name] = true
	}
	for name := range names {
		message, field, _ := strings.Cut(name, ".")
		d, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(pkg + message))
		if err != nil || d.(protoreflect.MessageDescriptor).Fields().ByName(protoreflect.Name(field)) == nil {
			t.Errorf("no field %s: %v", name, err)
		}
	}
}

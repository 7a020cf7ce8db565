package flame

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWithout(t *testing.T) {
	p, _ := readFolded(t, []byte("main;drain_[k];xmit_[k] 10\nmain;drain_[k] 6\nmain;drain_[k];lock_delay_[k];drain_[k] 4\nmain;other 60\ndo_idle_[k];default_idle_[k] 20\n"))
	w, err := Without(p, Column{}, []string{"drain", "lock_delay"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Removable{{"drain", 10, 20}, {"lock_delay", 0, 4}}, w.Functions); diff != "" {
		t.Errorf("functions (-want +got):\n%s", diff)
	}
	if w.Busy != 80 || w.Idle != 20 || w.Self != 10 || w.Total != 20 || w.LeftHigh != 70 || w.LeftLow != 60 {
		t.Errorf("%+v", w)
	}
	if low, high := w.Factors(); low != 80./70 || high != 80./60 {
		t.Errorf("factors %v to %v", low, high)
	}
	w, err = Without(p, Column{}, []string{"main"})
	if err != nil {
		t.Fatal(err)
	}
	if low, high := w.Factors(); w.LeftLow != 0 || low != 1 || high != 0 {
		t.Errorf("without all: %+v, %v to %v", w, low, high)
	}
	if _, err := Without(p, Column{}, []string{"drai"}); err == nil || !strings.Contains(err.Error(), `nearest is "drain"`) {
		t.Errorf("a function that is not there: %v", err)
	}
}

// TestWithoutSuffix: compilers' endings are of no account.
func TestWithoutSuffix(t *testing.T) {
	p, _ := readFolded(t, []byte("a;__mutex_lock.constprop.0_[k] 3\na 1\n"))
	w, err := Without(p, Column{}, []string{"__mutex_lock"})
	if err != nil || w.Self != 3 {
		t.Errorf("%+v, %v", w, err)
	}
}

// TestWithoutRing: the forwarding comparison of the transmit-ring thread argued that the drain function's 16 % and the
// sleeping lock's 4.4 % were waste: then the rate rises by 1/(1-0.204).
func TestWithoutRing(t *testing.T) {
	p, _ := readFolded(t, []byte("fork_exit;iflib_txq_drain 160\nfork_exit;other;__mtx_lock_sleep 44\nfork_exit;other 796\n"))
	w, err := Without(p, Column{}, []string{"iflib_txq_drain", "__mtx_lock_sleep"})
	if err != nil {
		t.Fatal(err)
	}
	if low, high := w.Factors(); low != high || low != 1000./796 {
		t.Errorf("factors %v to %v", low, high)
	}
}

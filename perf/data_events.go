package perf

// events are the events of a recording, found by the IDs that their samples hold.
type events struct {
	order
	attrs []*attr
	byID  map[uint64]*attr
	last  *attr // of lastID, most samples follow one of the same event
	id    uint64

	place   int  // of the ID in a sample's body, -1 where there is none
	differs bool // the events disagree about the place: only the first can be read
}

func newEvents(o order) events { return events{order: o, byID: map[uint64]*attr{}} }

func (e *events) add(a attr, ids []byte) {
	kept := &a
	if place := kept.idPlace(); len(e.attrs) == 0 {
		e.place = place
	} else if place != e.place {
		e.differs = true
	}
	e.attrs = append(e.attrs, kept)
	e.identify(kept, ids)
}

func (e *events) identify(a *attr, ids []byte) {
	for ; len(ids) >= 8 && len(e.byID) < idsMax; ids = ids[8:] {
		e.byID[e.u64(ids)] = a
		a.ids++
	}
}

// describe names event number i.
func (e *events) describe(i int, described *attr, name string, ids []byte) {
	a := e.byName(i, described, ids)
	if a == nil {
		return
	}
	a.setName(name)
	if a.ids == 0 {
		e.identify(a, ids)
	}
}

// byName finds the event that a description is of: by its IDs, else by its number.
func (e *events) byName(i int, described *attr, ids []byte) *attr {
	if len(ids) >= 8 {
		if a := e.byID[e.u64(ids)]; a != nil {
			return a
		}
	}
	if i < len(e.attrs) && e.attrs[i].kind == described.kind && e.attrs[i].config == described.config {
		return e.attrs[i]
	}
	return nil
}

func (a *attr) setName(name string) {
	before, modifiers := splitEvent([]byte(name))
	a.name, a.modifiers = string(before), string(modifiers)
}

// nameRest gives those a name that have none.
func (e *events) nameRest() {
	for _, a := range e.attrs {
		if a.name != "" {
			continue
		}
		if a.format != nil {
			a.name = a.format.name
		} else {
			a.name = a.genericName()
		}
	}
}

// of returns the event with an ID; 0 is the first one. Nil is an unknown ID.
func (e *events) of(id uint64) *attr {
	if id == e.id && e.last != nil {
		return e.last
	}
	a := e.byID[id]
	if a == nil && id == 0 && len(e.attrs) > 0 {
		a = e.attrs[0]
	}
	e.last, e.id = a, id
	return a
}

// ofSample returns the event of a sample's body.
func (e *events) ofSample(body []byte) *attr {
	switch {
	case len(e.attrs) == 0:
		return nil
	case len(e.attrs) == 1, e.place < 0:
		return e.attrs[0]
	case len(body) < e.place+8:
		return nil
	}
	return e.of(e.u64(body[e.place:]))
}

// first is the event whose layout the records have that are no samples.
func (e *events) first() *attr {
	if len(e.attrs) == 0 {
		return nil
	}
	return e.attrs[0]
}

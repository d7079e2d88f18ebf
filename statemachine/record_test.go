package statemachine

// The records of single things, for tests.

func metaRecord(v metaValue) Record    { return newRecordWriter(0).meta(v) }
func presenceRecord(p Presence) Record { return newRecordWriter(0).presence(p) }
func leaseRecord(l Lease) Record       { return newRecordWriter(0).lease(l) }
func waitRecord(w Wait) Record         { return newRecordWriter(0).wait(w) }
func requestKey(kind recordKind, id LeaseID) []byte {
	return newRecordWriter(0).none(kind, id).Key
}

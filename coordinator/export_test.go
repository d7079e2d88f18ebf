package coordinator

// For the tests from outside that measure the heap.
const HeapGrowthMax = uint64(heapGrowthMax)

// HeapInUse returns the bytes of reachable objects.
func HeapInUse() uint64 { return heapInUse() }

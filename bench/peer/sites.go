package peer

import "github.com/palisade-go/palisade/bench/crew"

// SitesOf returns sites of this process as a Cluster has them.
func SitesOf(list []*crew.Site) []Site {
	var sites []Site
	for _, s := range list {
		sites = append(sites, s)
	}
	return sites
}

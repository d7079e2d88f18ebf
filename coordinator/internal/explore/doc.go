// Package explore searches a small world.
package explore

package raftnode

import "errors"

// What may have become of a proposal that was not confirmed.
var (
	// ErrNotApplied: the proposal is surely not applied and never will be.
	ErrNotApplied = errors.New("raftnode: not applied")
	// ErrUnknownOutcome: the proposal may have been applied, may still be
	// applied, or may be lost.
	ErrUnknownOutcome = errors.New("raftnode: outcome unknown")
)

// What calls on a Node can meet.
var (
	// ErrClosed: the Node is closed or closing. Nothing was proposed.
	ErrClosed = errors.New("raftnode: closed")
	// ErrUnknownGroup: there is no replica of the group here.
	ErrUnknownGroup = errors.New("raftnode: unknown group")
	// ErrNotReady: the replica has not been opened yet, or the group has no
	// leader that could carry out the request.
	ErrNotReady = errors.New("raftnode: not ready")
	// ErrStillRunning: the engine did not stop within the bound of Close. It
	// still uses its directory and the store.
	ErrStillRunning = errors.New("raftnode: engine still running")
)

// Why Open refused.
var (
	// ErrInvalid: the Config is wrong. All problems are named.
	ErrInvalid = errors.New("raftnode: invalid configuration")
	// ErrStraySettings: a dragonboat-*-settings.json in the working directory
	// would change the engine.
	ErrStraySettings = errors.New("raftnode: stray engine settings file")
	// ErrHostChanged: the directory was written under another host name, by
	// a program that did not hide it from the engine.
	ErrHostChanged = errors.New("raftnode: host name changed")
	// ErrHostName: the host's name can't be a name in the directory.
	ErrHostName = errors.New("raftnode: unusable host name")
	// ErrDeployment: the directory belongs to another cluster.
	ErrDeployment = errors.New("raftnode: deployment differs")
	// ErrIdentity: the directory belongs to another node.
	ErrIdentity = errors.New("raftnode: node identity differs")
	// ErrLogStore: the directory was written by another kind or format of
	// log store.
	ErrLogStore = errors.New("raftnode: log store differs")
	// ErrEngineSettings: the directory was written under other constants of
	// the engine.
	ErrEngineSettings = errors.New("raftnode: engine settings differ")
	// ErrLocked: another process has the directory open.
	ErrLocked = errors.New("raftnode: directory locked")
	// ErrDamaged: a file that marks the directory is damaged, or the log is.
	ErrDamaged = errors.New("raftnode: directory damaged")
	// ErrTorn: the log and the store do not belong together; one of them was
	// lost or put back.
	ErrTorn = errors.New("raftnode: log and store do not belong together")
	// ErrRemoved: the replica was removed from its group.
	ErrRemoved = errors.New("raftnode: replica removed")
	// ErrEngine: the engine refused for a reason that has no error of its
	// own. Its text is in the error.
	ErrEngine = errors.New("raftnode: engine failed")
)

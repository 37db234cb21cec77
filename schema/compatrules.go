package schema

// changeKind is what sort of change a change is: a rule, or a case of a rule whose verdict is its own.
type changeKind int

const (
	wordsChanged changeKind = iota
	attributeAdded
	attributeRemoved
	attributeDropped
	reservedAdded
	reservedReused
	reservedRemoved
	attributeRenamed
	nameLost
	nameTaken
	tagChanged
	typeWidened
	typeNarrowed
	typeChanged
	enumWidened
	enumNarrowed
	enumRewritten
	constChanged
	boundRelaxed
	boundTightened
	boundRewritten
	enumDropped
	enumImposed
	patternImposed
	patternDropped
	formatImposed
	formatDropped
	multipleFiner
	multipleCoarser
	multipleOther
	multipleRewritten
	optionalAdded
	defaultedAdded
	requiredAdded
	optionalRemoved
	requiredRemoved
	becameRequired
	becameOptional
	defaultAdded
	defaultChanged
	defaultForged
	branchAdded
	branchRemoved
	branchesWrapped
	discriminatorChanged
	uniqueImposed
	uniqueDropped
	unitChanged
	oneToMany
	manyToOne
	keyChanged
	policyChanged
	sensitivityRaised
	sensitivityLowered
	sensitivityDeclassified
	retentionShortened
	retentionLengthened
	indexDropped
	indexAdded
	proofChanged
	typeRemoved
)

// ruleRow is what a rule says of one kind of change.
type ruleRow struct {
	rule              string
	backward, forward Verdict
	// values says that the change is about how values are read, and so about what a lens can do.
	values bool
	needs  []string
	advice string
}

// The words of Needs.
const (
	needLens         = "lens"
	needUp           = "lens_up"
	needDown         = "lens_down"
	needFallback     = "fallback"
	needScan         = "scan"
	needDisposition  = "disposition"
	needReserve      = "reserve"
	needAlias        = "alias"
	needAttribute    = "new_attribute"
	needDeclassify   = "declassify"
	needPick         = "pick"
	needCollapse     = "collapse_rule"
	needDeindex      = "deindex_job"
	needRebuild      = "rebuild_job"
	needPurge        = "purge_job"
	needDryRun       = "dry_run"
	needUndo         = "undo"
	needRetire       = "retire"
	adviceScan       = "scan the stored values first: each has to keep the new rule"
	adviceNewReaders = "values of the new version have to be scanned before a reader of the old one takes them"
)

// ruleRows are the rules.
var ruleRows = map[changeKind]ruleRow{
	wordsChanged:   {rule: "SC01"},
	attributeAdded: {rule: "SC02"},
	attributeRemoved: {
		rule: "SC03", forward: VerdictLens, needs: []string{needDisposition, needDown},
		advice: "say what becomes of its facts: keep_readable, expire or erase",
	},
	attributeDropped: {
		rule: "SC04", backward: VerdictForbid, forward: VerdictForbid, needs: []string{needReserve},
		advice: "put what the attribute leaves behind into reserved, so that nothing ever takes its place",
	},
	reservedAdded: {rule: "SC05"},
	reservedReused: {
		rule: "SC05", backward: VerdictForbid, forward: VerdictForbid, needs: []string{needUndo},
		advice: "take a tag and a name that were never used: the facts of the old attribute would be read as the new one's",
	},
	reservedRemoved: {
		rule: "SC05", backward: VerdictForbid, forward: VerdictForbid, needs: []string{needReserve},
		advice: "put the entry back: what is reserved stays reserved",
	},
	attributeRenamed: {rule: "SC06"},
	nameLost: {
		rule: "SC06", backward: VerdictForbid, forward: VerdictForbid, needs: []string{needAlias},
		advice: "keep every earlier name among the aliases, for programs that still ask by it",
	},
	nameTaken: {
		rule: "SC07", backward: VerdictForbid, forward: VerdictForbid, needs: []string{needUndo},
		advice: "take a name of its own: it has been a name of another attribute",
	},
	tagChanged: {
		rule: "SC08", backward: VerdictForbid, forward: VerdictForbid, needs: []string{needUndo},
		advice: "keep the tag: it is what the facts of the attribute are found by",
	},
	typeWidened: {
		rule: "SC09", forward: VerdictLens, values: true, needs: []string{needDown},
		advice: "give the lens's way down a value for what the old type does not have",
	},
	typeNarrowed: {
		rule: "SC10", backward: VerdictDataLens, values: true, needs: []string{needUp, needScan},
		advice: "give the lens's way up a value for what the new type does not have, and scan for values that it would change",
	},
	typeChanged: {
		rule: "SC11", backward: VerdictLens, forward: VerdictLens, values: true, needs: []string{needLens},
		advice: "add a cast to the lens that knows every stored value, or give the new type an attribute of its own",
	},
	enumWidened: {
		rule: "SC12", forward: VerdictLens, values: true, needs: []string{needDown, needFallback},
		advice: "add an enum fallback to the lens's way down: which old value stands for the new one",
	},
	enumNarrowed: {
		rule: "SC13", backward: VerdictDataLens, values: true, needs: []string{needUp, needScan},
		advice: "map the removed value in the lens's way up, and scan for facts that have it",
	},
	enumRewritten: {rule: "SC12", values: true},
	constChanged: {
		rule: "SC14", backward: VerdictLens, forward: VerdictLens, values: true, needs: []string{needLens},
		advice: "map the old constant to the new one in the lens",
	},
	boundRelaxed:   {rule: "SC15", forward: VerdictData, values: true, needs: []string{needScan}, advice: adviceNewReaders},
	boundTightened: {rule: "SC16", backward: VerdictData, values: true, needs: []string{needScan}, advice: adviceScan},
	boundRewritten: {rule: "SC15", values: true},
	enumDropped:    {rule: "SC15", forward: VerdictData, values: true, needs: []string{needScan}, advice: adviceNewReaders},
	enumImposed:    {rule: "SC16", backward: VerdictData, values: true, needs: []string{needScan}, advice: adviceScan},
	patternImposed: {
		rule: "SC17", backward: VerdictData, forward: VerdictData, values: true, needs: []string{needScan},
		advice: "scan the stored values first: patterns are not compared with one another",
	},
	patternDropped: {rule: "SC18", forward: VerdictData, values: true, needs: []string{needScan}, advice: adviceNewReaders},
	formatImposed: {
		rule: "SC19", backward: VerdictData, forward: VerdictData, values: true, needs: []string{needScan}, advice: adviceScan,
	},
	formatDropped:     {rule: "SC19", forward: VerdictData, values: true, needs: []string{needScan}, advice: adviceNewReaders},
	multipleFiner:     {rule: "SC20", forward: VerdictData, values: true, needs: []string{needScan}, advice: adviceNewReaders},
	multipleCoarser:   {rule: "SC20", backward: VerdictData, values: true, needs: []string{needScan}, advice: adviceScan},
	multipleOther:     {rule: "SC20", backward: VerdictData, forward: VerdictData, values: true, needs: []string{needScan}, advice: adviceScan},
	multipleRewritten: {rule: "SC20", values: true},
	optionalAdded: {
		rule: "SC21", forward: VerdictLens, values: true, needs: []string{needDown},
		advice: "add the property to the lens: its way down drops it and keeps it aside",
	},
	defaultedAdded: {
		rule: "SC22", backward: VerdictLens, forward: VerdictLens, values: true, needs: []string{needLens},
		advice: "add the property with its default to the lens: what it fills in is marked as said by nobody",
	},
	requiredAdded: {
		rule: "SC23", backward: VerdictBreak, forward: VerdictLens, values: true, needs: []string{needAttribute},
		advice: "give the property a default, or make it optional: no stored value has it",
	},
	optionalRemoved: {
		rule: "SC24", backward: VerdictLens, values: true, needs: []string{needUp},
		advice: "drop the property in the lens, which keeps its value aside",
	},
	requiredRemoved: {
		rule: "SC24", backward: VerdictLens, forward: VerdictLens, values: true, needs: []string{needLens},
		advice: "drop the property in the lens, which keeps its value aside and gives the way down a default",
	},
	becameRequired: {
		rule: "SC25", backward: VerdictData, values: true, needs: []string{needScan},
		advice: "scan the stored values first: each has to have the property",
	},
	becameOptional: {
		rule: "SC26", forward: VerdictData, values: true, needs: []string{needScan},
		advice: "values of the new version without the property cannot be read as the old one",
	},
	defaultAdded:   {rule: "SC27"},
	defaultChanged: {rule: "SC27"},
	defaultForged: {
		rule: "SC27", backward: VerdictForbid, forward: VerdictForbid, needs: []string{needUndo},
		advice: "keep the default: a lens has filled it in, and another one would tell history anew",
	},
	branchAdded: {
		rule: "SC28", forward: VerdictLens, values: true, needs: []string{needDown, needFallback},
		advice: "say in the lens's way down what stands for the new branch",
	},
	branchRemoved: {
		rule: "SC28", backward: VerdictData, values: true, needs: []string{needScan},
		advice: "scan the stored values first: none may be of the removed branch",
	},
	branchesWrapped: {rule: "SC28", values: true},
	discriminatorChanged: {
		rule: "SC28", backward: VerdictForbid, forward: VerdictForbid, values: true, needs: []string{needUndo},
		advice: "keep the property that tells the branches apart, or give the new union an attribute of its own",
	},
	uniqueImposed: {rule: "SC29", backward: VerdictData, values: true, needs: []string{needScan}, advice: adviceScan},
	uniqueDropped: {rule: "SC29", forward: VerdictData, values: true, needs: []string{needScan}, advice: adviceNewReaders},
	unitChanged: {
		rule: "SC30", backward: VerdictLens, forward: VerdictLens, values: true, needs: []string{needLens},
		advice: "add an affine step with exact rational factors to the lens",
	},
	oneToMany: {
		rule: "SC31", backward: VerdictLens, forward: VerdictLens, values: true, needs: []string{needLens, needPick},
		advice: "say in the lens which member the way down picks: latest, highest_confidence or error",
	},
	manyToOne: {
		rule: "SC32", backward: VerdictDataLens, values: true, needs: []string{needUp, needScan, needCollapse},
		advice: "name the rule by which members collapse into one, and count the slots with more than one current value",
	},
	keyChanged: {
		rule: "SC33", backward: VerdictBreak, forward: VerdictBreak, values: true, needs: []string{needAttribute},
		advice: "give the members with the other key an attribute of their own: the key is what a member is found by",
	},
	policyChanged: {rule: "SC34", advice: "only what is written from now on is decided by the new policy"},
	sensitivityRaised: {
		rule: "SC35", needs: []string{needDeindex},
		advice: "the values leave the indexes that they may no longer be in before the version is used",
	},
	sensitivityDeclassified: {rule: "SC36"},
	sensitivityLowered: {
		rule: "SC36", backward: VerdictForbid, forward: VerdictForbid, needs: []string{needDeclassify},
		advice: "say in the document who declassifies it, and why",
	},
	retentionShortened: {
		rule: "SC37", needs: []string{needDryRun},
		advice: "look at the dry run of the first sweep: a class that keeps less makes facts due, after a time of grace",
	},
	retentionLengthened: {rule: "SC38", advice: "facts that are due already keep their due date, unless there is a reason in writing"},
	indexDropped:        {rule: "SC39", needs: []string{needPurge}, advice: "the values leave the index"},
	indexAdded:          {rule: "SC39", needs: []string{needRebuild}, advice: "the index is built from what is stored"},
	proofChanged:        {rule: "SC40", advice: "only what is written from now on is held to it"},
	typeRemoved: {
		rule: "SC41", backward: VerdictForbid, forward: VerdictForbid, needs: []string{needRetire},
		advice: "put its versions back and retire them: what is stored has to stay readable",
	},
}

package histories

// Golden compares with a file of testdata/histories.
var Golden = golden

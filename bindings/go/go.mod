module github.com/holdfast/holdfast-go

go 1.21

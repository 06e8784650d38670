module plimsoll/frameworks/go

go 1.25

-- Rows whose first byte comes after the end of their response.
SELECT count(*) FROM requests WHERE done_ns < first_byte_ns AND sent_ns <= done_ns

-- schema: nafld
SELECT COUNT(*) FROM labs a JOIN labs b ON a.day = b.day
-- says: these private tables are not joined on their unit, so a row could have two (labs: patient_id is the unit) (line 1, column 8)
-- instead: SELECT COUNT(*) FROM labs

-- schema: nafld
SELECT COUNT(*) FROM patients, labs
-- says: these private tables are not joined on their unit, so a row could have two (labs: patient_id is the unit; patients: patient_id is the unit) (line 1, column 8)
-- instead: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT COUNT(*) FROM conditions c LEFT JOIN diagnoses d ON c.diagnosis = d.diagnosis
-- says: an outer join that keeps the rows of a public table leaves rows without a unit; join the other way round (line 1, column 45)
-- instead: SELECT COUNT(*) FROM diagnoses

-- schema: nafld
SELECT COUNT(*) FROM labs FULL JOIN diagnoses ON labs.patient_id = diagnoses.patient_id
-- says: a FULL JOIN is not answered; write it as a LEFT JOIN from the private table (line 1, column 37)
-- instead: SELECT COUNT(*) FROM labs

-- schema: nafld
SELECT COUNT(*) FROM patients NATURAL JOIN labs
-- says: this kind of join is not supported (line 1, column 44)
-- instead: SELECT COUNT(*) FROM patients

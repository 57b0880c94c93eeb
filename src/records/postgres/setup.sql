-- SPDX-License-Identifier: Apache-2.0
--
-- setup.sql - what Holdfast needs in a database: a schema with a table of
-- records, functions that read and commit them, and a fence for tables of your
-- own. `holdfast store setup` replaces the schema's name, which is "holdfast"
-- here. It can be run again; it changes no data.
--
-- Who uses the store needs USAGE on the schema, and EXECUTE on its routines; the
-- functions run with their owner's rights: no rights on the tables.

BEGIN ISOLATION LEVEL READ COMMITTED;
SET LOCAL search_path = pg_catalog, pg_temp;

-- One setup after the other, in this database.
SELECT pg_advisory_xact_lock(1752132708, -1);

CREATE SCHEMA IF NOT EXISTS holdfast;

-- What is in it already, for the end of this.
SELECT set_config('setup.found', array(
    SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = 'holdfast'
    UNION ALL
    SELECT p.oid FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
    WHERE n.nspname = 'holdfast')::text, true);

-- All that is in the schema must be of who runs this, and no one else may add to
-- it: the functions run with their owner's rights, and so does a trigger of a
-- table that they write to.
DO $$
DECLARE
    me oid := (SELECT r.oid FROM pg_roles r WHERE r.rolname = current_user);
    space oid := (SELECT n.oid FROM pg_namespace n WHERE n.nspname = 'holdfast');
    culprit text;
BEGIN
    SELECT f.what INTO culprit FROM (
        SELECT format('it is owned by %s', n.nspowner::regrole) AS what
        FROM pg_namespace n WHERE n.oid = space AND n.nspowner <> me
        UNION ALL
        SELECT format('%s may create objects in it', CASE WHEN a.grantee = 0
                      THEN 'PUBLIC' ELSE a.grantee::regrole::text END)
        FROM pg_namespace n, aclexplode(n.nspacl) a
        WHERE n.oid = space AND a.privilege_type = 'CREATE' AND a.grantee <> me
        UNION ALL
        SELECT format('the relation %s is owned by %s', c.oid::regclass,
                      c.relowner::regrole)
        FROM pg_class c WHERE c.relnamespace = space AND c.relowner <> me
        UNION ALL
        SELECT format('the function %s is owned by %s', p.oid::regprocedure,
                      p.proowner::regrole)
        FROM pg_proc p WHERE p.pronamespace = space AND p.proowner <> me
        UNION ALL
        SELECT format('the table %s has the trigger %I, whose function is owned by %s',
                      c.oid::regclass, t.tgname, p.proowner::regrole)
        FROM pg_class c JOIN pg_trigger t ON t.tgrelid = c.oid
        JOIN pg_proc p ON p.oid = t.tgfoid
        WHERE c.relnamespace = space AND NOT t.tgisinternal AND p.proowner <> me
        UNION ALL
        SELECT format('%s is not a plain table', c.oid::regclass)
        FROM pg_class c
        WHERE c.relnamespace = space
          AND c.relname IN ('records', 'turns', 'fences')
          AND (c.relkind <> 'r' OR c.relhasrules)) f
    LIMIT 1;
    IF culprit IS NOT NULL THEN
        RAISE EXCEPTION 'the schema %: %', 'holdfast', culprit
            USING ERRCODE = 'insufficient_privilege',
            HINT = 'Run this as the owner of all that is in the schema, or name another schema.';
    END IF;
END $$;

-- A key, or what remains of one that has expired. digest: sha256(key), as an
-- index has no room for a long key. payload: as DUMP returns it.
-- at_us: by the clock of this database, when it was written; version: drawn by
-- the client that wrote it, and never drawn again. expire_ms: when it ends, Unix
-- time; 0: never; of the lease of a lock less than 0, and the negation of that:
-- this database's clock does not end it, as it may have been set. Half of each
-- page is left free, so that a lock is rewritten in place.
CREATE TABLE IF NOT EXISTS holdfast.records (
    digest bytea PRIMARY KEY,
    key bytea NOT NULL,
    payload bytea NOT NULL,
    expire_ms bigint NOT NULL,
    at_us bigint NOT NULL,
    version bigint NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX IF NOT EXISTS records_expire ON holdfast.records (expire_ms)
    WHERE expire_ms > 0;

-- Whose turn it is to commit after a conflict, by the first key of the request:
-- see commit_records(). session: which wakes who waits for that, 0: none. Not
-- logged, as it is worth nothing after a crash.
CREATE UNLOGGED TABLE IF NOT EXISTS holdfast.turns (
    slot int PRIMARY KEY,
    client bigint NOT NULL,
    until_us bigint NOT NULL,
    session int NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

-- The highest token that was seen for each name, see check_token(). digest: of
-- the name in UTF-8.
CREATE TABLE IF NOT EXISTS holdfast.fences (
    digest bytea PRIMARY KEY,
    name text NOT NULL,
    token bigint NOT NULL
) WITH (fillfactor = 50);

-- What this file makes; a client refuses another number.
CREATE OR REPLACE FUNCTION holdfast.protocol() RETURNS int
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS 'SELECT 1';

-- Wait with the commit until all that can be seen now is on the synchronous
-- standbys: a server that was restarted while a commit waited for them shows it
-- without. That needs something to be written, whatever it is.
CREATE OR REPLACE FUNCTION holdfast.await_standbys(writes boolean) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    -- If someone cancels the wait, only a warning says so.
    PERFORM set_config('client_min_messages', 'warning', true);
    -- What was acknowledged survives a power cut.
    IF current_setting('synchronous_commit') IN ('off', 'local') THEN
        PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    IF NOT writes THEN
        PERFORM pg_logical_emit_message(true, 'holdfast', '');
    END IF;
END $$;

-- All records of `keys`, in one snapshot; of one that does not exist, nulls.
-- left_ms: how long it may wait for a lock. doubtful: the caller doubts whether
-- an earlier commit was done.
CREATE OR REPLACE FUNCTION holdfast.read_records(
    keys bytea[], left_ms int, doubtful boolean,
    OUT outcome int, OUT store_us bigint, OUT absent int,
    OUT payloads bytea[], OUT expires bigint[], OUT ats bigint[],
    OUT versions bigint[])
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM set_config('lock_timeout', left_ms::text, true);
    outcome := 0;
    absent := 0;
    SELECT array_agg(r.payload ORDER BY k.n), array_agg(r.expire_ms ORDER BY k.n),
           array_agg(r.at_us ORDER BY k.n), array_agg(r.version ORDER BY k.n)
    INTO payloads, expires, ats, versions
    FROM unnest(keys) WITH ORDINALITY k(key, n)
    LEFT JOIN holdfast.records r ON r.digest = sha256(k.key);
    store_us := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
    IF doubtful THEN
        PERFORM holdfast.await_standbys(false);
    END IF;
END $$;

-- Write records and send messages, if the records of `keys` have these
-- versions, clients listen on `required`, and `now_us` is neither ahead of the
-- clock nor older than that by more than late_us. outcome: 0 done; 1 a version
-- differs, and the records are those that there are; 2 no one listens on
-- required[absent]; 3 now_us is wrong.
--
-- 1. A lock for each key, of `slots`: a commit that expects a key to be absent
--    excludes one that makes it. In order, so that there is no deadlock. They end
--    with the transaction, so a pooler may give each to another session.
-- 2. Records are read after that, by a snapshot of their own: READ COMMITTED.
-- 3. A listening client has an exclusive lock of its session; who gets a shared
--    one knows that there is none, and does not look like one to others.
-- 4. Who meets a conflict has the turn on the first key: commits of others wait
--    for its next one, each behind the one before. So the records that come
--    with a conflict are still right then, and a client that commits all the
--    time does not shut the others out. If that commit, or one that has met no
--    conflict, gives a lease to next_client (0: to no one), this one has the
--    turn then, for a shorter time: who gives it back soon meets no conflict. A
--    turn ends after a time, as its client may be gone; one that ends too early
--    costs a trip. What writes nothing is no one's rival. Locks of this step come
--    before those of step 1.
-- 5. The turn's client may be between two commits, and then holds nothing on which
--    one could wait. So if no pooler is between, by `session`, its session keeps a
--    lock of its own until its next commit, and the first who waits is woken as
--    that ends. It is only a hint: who gets none looks again each millisecond.
CREATE OR REPLACE FUNCTION holdfast.commit_records(
    keys bytea[], expected bigint[], slots int[],
    places int[], written bytea[], written_expires bigint[],
    now_us bigint, version bigint,
    channels text[], messages text[], required bigint[],
    first_slot int, client bigint, next_client bigint, late_us bigint,
    left_ms int, doubtful boolean, session int DEFAULT 0, early boolean DEFAULT false,
    OUT outcome int, OUT store_us bigint, OUT absent int,
    OUT payloads bytea[], OUT expires bigint[], OUT ats bigint[],
    OUT versions bigint[])
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    latest bigint;
    one int;
    writes boolean := coalesce(array_length(places, 1), 0) > 0;
    turn boolean;
    direct boolean := session = pg_backend_pid();
    other int;
    polls boolean := false;
    woken boolean := false;
    idle boolean := true;
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'default_transaction_isolation of this role or database must be "read committed"'
            USING ERRCODE = 'feature_not_supported';
    END IF;
    -- Else a session whose client has given up waits on, one for each try.
    PERFORM set_config('lock_timeout', left_ms::text, true);
    turn := EXISTS (
        SELECT FROM holdfast.turns t
        WHERE t.slot = first_slot AND t.client = commit_records.client
        AND t.until_us - extract(epoch FROM clock_timestamp()) * 1000000
            BETWEEN 0 AND late_us);
    IF writes AND NOT turn THEN
        PERFORM pg_advisory_xact_lock(1752132709, first_slot);
        LOOP
            SELECT t.session INTO other FROM holdfast.turns t
            WHERE t.slot = first_slot
            AND t.until_us - extract(epoch FROM clock_timestamp()) * 1000000
                BETWEEN 0 AND late_us;
            EXIT WHEN NOT FOUND;
            IF polls THEN
                PERFORM pg_sleep(0.001);
                polls := false;
            END IF;
            -- First for the session, then for its commit: apart, as it takes
            -- the former again within that. This always fails, which gives back
            -- what it takes.
            BEGIN
                IF other <> 0 AND NOT woken THEN
                    woken := true;
                    idle := pg_try_advisory_xact_lock_shared(1752132710, other);
                    IF NOT idle THEN
                        PERFORM set_config('lock_timeout', '1', true);
                        PERFORM pg_advisory_xact_lock_shared(1752132710, other);
                    END IF;
                ELSE
                    polls := idle;
                    idle := true;
                    woken := false;
                    PERFORM pg_advisory_xact_lock(1752132708, first_slot);
                END IF;
                RAISE EXCEPTION USING ERRCODE = 'HF002';
            EXCEPTION
                WHEN SQLSTATE 'HF002' THEN
                    NULL;
                WHEN lock_not_available OR deadlock_detected THEN
                    -- That for the commit was as long as the caller's.
                    IF NOT woken THEN
                        RAISE;
                    END IF;
            END;
        END LOOP;
    END IF;
    FOREACH one IN ARRAY slots LOOP
        PERFORM pg_advisory_xact_lock(1752132708, one);
    END LOOP;
    IF direct AND writes THEN
        -- That of step 5, if there is one. The session has no others; and to
        -- unlock one that there is not is a warning in the server's log.
        PERFORM pg_advisory_unlock_all();
    END IF;
    absent := 0;
    SELECT array_agg(r.payload ORDER BY k.n), array_agg(r.expire_ms ORDER BY k.n),
           array_agg(r.at_us ORDER BY k.n),
           array_agg(coalesce(r.version, 0) ORDER BY k.n), max(r.at_us)
    INTO payloads, expires, ats, versions, latest
    FROM unnest(keys) WITH ORDINALITY k(key, n)
    LEFT JOIN holdfast.records r ON r.digest = sha256(k.key);
    store_us := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
    outcome := 1;
    IF versions <> expected THEN
        IF writes THEN
            INSERT INTO holdfast.turns AS t
            VALUES (first_slot, client, store_us + late_us / 4,
                    CASE WHEN direct AND pg_try_advisory_lock(1752132710, session)
                    THEN session ELSE 0 END)
            ON CONFLICT ON CONSTRAINT turns_pkey DO UPDATE
            SET client = excluded.client, until_us = excluded.until_us,
                session = excluded.session;
        END IF;
        RETURN;
    END IF;
    payloads := NULL;
    expires := NULL;
    ats := NULL;
    versions := NULL;
    outcome := 2;
    FOR i IN 1 .. coalesce(array_length(required, 1), 0) LOOP
        IF pg_try_advisory_xact_lock_shared(required[i]) THEN
            absent := i;
            RETURN;
        END IF;
    END LOOP;
    outcome := 3;
    IF now_us > greatest(store_us, coalesce(latest, 0)) OR
       now_us < store_us - late_us THEN
        RETURN;
    END IF;
    outcome := 0;
    -- Who had no turn has met no one, and writes a row less.
    IF next_client <> 0 AND (turn OR next_client <> client) THEN
        INSERT INTO holdfast.turns AS t
        VALUES (first_slot, next_client, store_us + late_us / 16,
                CASE WHEN direct AND next_client = client
                     AND pg_try_advisory_lock(1752132710, session)
                THEN session ELSE 0 END)
        ON CONFLICT ON CONSTRAINT turns_pkey DO UPDATE
        SET client = excluded.client, until_us = excluded.until_us,
            session = excluded.session;
    ELSIF turn THEN
        DELETE FROM holdfast.turns t WHERE t.slot = first_slot
        AND t.client = commit_records.client;
    END IF;
    FOR i IN 1 .. coalesce(array_length(places, 1), 0) LOOP
        IF length(written[i]) = 0 THEN
            DELETE FROM holdfast.records r
            WHERE r.digest = sha256(keys[places[i]]);
        ELSE
            INSERT INTO holdfast.records AS r
            VALUES (sha256(keys[places[i]]), keys[places[i]], written[i],
                    written_expires[i], now_us, version)
            ON CONFLICT (digest) DO UPDATE
            SET payload = excluded.payload, expire_ms = excluded.expire_ms,
                at_us = excluded.at_us, version = excluded.version;
        END IF;
    END LOOP;
    FOR i IN 1 .. coalesce(array_length(channels, 1), 0) LOOP
        PERFORM pg_notify(channels[i], messages[i]);
    END LOOP;
    IF early THEN
        PERFORM set_config('synchronous_commit', 'off', true);
    ELSIF writes OR doubtful THEN
        PERFORM holdfast.await_standbys(writes);
    END IF;
    IF writes THEN
        -- Now and then, remove what expired an hour ago: by then, no client
        -- believes in it. A lease, and only of a lock that no one has acquired
        -- since its holder died, once that was 30 days ago: see
        -- records.expire_ms; no clock is set so far. An index of them would cost
        -- each write of a lock; so some records are looked at, wherever.
        IF version % 128 = 0 THEN
            DELETE FROM holdfast.records r WHERE r.digest IN (
                SELECT l.digest FROM holdfast.records l
                WHERE l.digest IN (
                    SELECT e.digest FROM (
                        SELECT d.digest FROM holdfast.records d
                        WHERE d.digest > sha256(int8send(commit_records.version))
                        ORDER BY d.digest LIMIT 100) e)
                  AND l.expire_ms < 0
                  AND l.expire_ms > 2592000000 - store_us / 1000
                  AND l.at_us < store_us - 2592000000000
                FOR UPDATE SKIP LOCKED);
            DELETE FROM holdfast.records r WHERE r.digest IN (
                SELECT e.digest FROM holdfast.records e
                WHERE e.expire_ms > 0
                  AND e.expire_ms < store_us / 1000 - 3600000
                ORDER BY e.expire_ms LIMIT 500 FOR UPDATE SKIP LOCKED);
            -- Turns of clients that never came back.
            DELETE FROM holdfast.turns t WHERE t.slot IN (
                SELECT e.slot FROM holdfast.turns e
                WHERE e.until_us < store_us - 3600000000
                LIMIT 500 FOR UPDATE SKIP LOCKED);
        END IF;
    END IF;
END $$;

-- The same for a commit that only ends leases: others see it before it is on the
-- disk, and the caller is answered once it is. A crash meanwhile undoes it, but no
-- grant that rests on it: a grant waits for its own flush, which is also of all
-- that was before. With the caller's rights, and no search_path of its own, as it
-- could not COMMIT otherwise.
CREATE OR REPLACE PROCEDURE holdfast.commit_early(
    keys bytea[], expected bigint[], slots int[],
    places int[], written bytea[], written_expires bigint[],
    now_us bigint, version bigint,
    channels text[], messages text[], required bigint[],
    first_slot int, client bigint, next_client bigint, late_us bigint,
    left_ms int, doubtful boolean, session int,
    OUT outcome int, OUT store_us bigint, OUT absent int,
    OUT payloads bytea[], OUT expires bigint[], OUT ats bigint[],
    OUT versions bigint[])
LANGUAGE plpgsql AS $$
BEGIN
    -- An error of rights comes before anything is done.
    PERFORM holdfast.await_standbys(true);
    SELECT c.outcome, c.store_us, c.absent, c.payloads, c.expires, c.ats, c.versions
    INTO outcome, store_us, absent, payloads, expires, ats, versions
    FROM holdfast.commit_records(
        keys, expected, slots, places, written, written_expires, now_us, version,
        channels, messages, required, first_slot, client, next_client, late_us,
        left_ms, doubtful, session, true) c;
    IF outcome OPERATOR(pg_catalog.=) 0 THEN
        COMMIT;
        -- An error from here on must not look like one from before.
        BEGIN
            PERFORM holdfast.await_standbys(false);
        EXCEPTION WHEN OTHERS THEN
            RAISE EXCEPTION USING ERRCODE = 'HF003', MESSAGE = SQLERRM;
        END;
    END IF;
END $$;

-- For `store diagnose`: how many records have a TIME that is still to come, by
-- more than a second, and the latest of them; '': none.
CREATE OR REPLACE FUNCTION holdfast.records_ahead() RETURNS text
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN count(*) = 0 THEN ''
           ELSE format('%s, by up to %s s', count(*),
                       ceil(max(r.at_us) / 1000000.0
                            - extract(epoch FROM clock_timestamp()))) END
    FROM holdfast.records r
    WHERE r.at_us > extract(epoch FROM clock_timestamp()) * 1000000 + 1000000
$$;

-- Refuse a fencing token that is lower than one that was seen for this name.
-- In the transaction that writes to your own tables: a holder that was paused,
-- and has lost its lock meanwhile, fails before it can overwrite what the next
-- one wrote. SQLSTATE HF001, which nothing else has: to run the transaction again,
-- as many programs do upon 40001, would be of no use.
CREATE OR REPLACE FUNCTION holdfast.check_token(name text, token bigint)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    seen bigint;
BEGIN
    INSERT INTO holdfast.fences AS f
    VALUES (sha256(convert_to(name, 'UTF8')), name, token)
    ON CONFLICT ON CONSTRAINT fences_pkey DO UPDATE
    SET token = greatest(f.token, excluded.token)
    RETURNING f.token INTO seen;
    IF seen > token THEN
        RAISE EXCEPTION 'the lock "%" was granted again', name
            USING ERRCODE = 'HF001',
            DETAIL = format('Token %s is lower than %s, the highest of this name.',
                            token, seen),
            HINT = 'Roll back, and do not try again: another holder has the lock.';
    END IF;
END $$;

-- Whatever the defaults of the database say. Not of what was there before: it may
-- have been granted to its users.
DO $$
DECLARE
    space oid := (SELECT n.oid FROM pg_namespace n WHERE n.nspname = 'holdfast');
    found oid[] := current_setting('setup.found')::oid[];
    one text;
BEGIN
    FOR one IN
        SELECT format('TABLE %s', c.oid::regclass) FROM pg_class c
        WHERE c.relnamespace = space AND c.relkind = 'r' AND c.oid <> ALL (found)
        UNION ALL
        SELECT format('ROUTINE %s', p.oid::regprocedure) FROM pg_proc p
        WHERE p.pronamespace = space AND p.oid <> ALL (found)
    LOOP
        EXECUTE format('REVOKE ALL ON %s FROM PUBLIC', one);
    END LOOP;
END $$;

COMMIT;

import type { ServerFacts } from '@parley/postgres';

export interface Finding {
  /** `advice`: it works, but an operator may want to change it. */
  readonly level: 'good' | 'advice' | 'problem';
  readonly subject: string;
  readonly text: string;
}

const MIB = 1024 * 1024;
/** Longer transactions keep the database server from vacuuming deleted rows. */
const LONG_TRANSACTION_SECONDS = 60;
const HINDERING_TRANSACTION_SECONDS = 3600;
/** Offset from which servers use the database's time. */
const LARGE_OFFSET_MS = 1000;

/**
 * Evaluates the state of a database server. `sessionsPerServer` is the maximum number of sessions per Parley server.
 */
export function* findingsOn(facts: ServerFacts, sessionsPerServer: number): Generator<Finding> {
  yield good('server', `PostgreSQL ${facts.version}; the database has ${(facts.databaseBytes / MIB).toFixed(1)} MiB`);
  yield* durability(facts);
  yield connections(facts, sessionsPerServer);
  yield* transactions(facts);
  yield clock(facts.clockOffsetMs);
}

const good = (subject: string, text: string): Finding => ({ level: 'good', subject, text });
const advice = (subject: string, text: string): Finding => ({ level: 'advice', subject, text });
const problem = (subject: string, text: string): Finding => ({ level: 'problem', subject, text });

function* durability(facts: ServerFacts): Generator<Finding> {
  const { fullPageWrites, checksums, autovacuum, synchronousStandbys, standbys } = facts;
  if (!fullPageWrites)
    yield advice(
      'durability',
      'full_page_writes is off: a power failure can damage pages on most disks and file systems',
    );
  if (!checksums) yield advice('durability', 'data checksums are off: disk corruption goes unnoticed');
  if (!autovacuum) yield problem('durability', 'autovacuum is off: the database grows and becomes slow');
  if (synchronousStandbys !== '') yield good('durability', `commits wait for the standby ${synchronousStandbys}`);
  else if (standbys > 0)
    yield advice(
      'durability',
      'no commit waits for a standby: if one takes over, the last acknowledged changes may be lost',
    );
  else yield good('durability', 'commits wait for the disk; no standby is connected');
}

function connections({ maxSessions, sessions }: ServerFacts, sessionsPerServer: number): Finding {
  const free = Math.max(0, maxSessions - sessions);
  const room = `${sessions} of ${maxSessions} connections are in use`;
  const more = Math.floor(free / sessionsPerServer);
  if (more === 0)
    return problem(
      'connections',
      `${room}, too few for one more server, which opens up to ${sessionsPerServer}: raise max_connections`,
    );
  return good('connections', `${room}; there is room for ${more} more ${more === 1 ? 'server' : 'servers'}`);
}

function* transactions({ oldestTransaction, abandoned }: ServerFacts): Generator<Finding> {
  if (abandoned > 0)
    yield problem(
      'transactions',
      `${abandoned} prepared transactions were left: see pg_prepared_xacts and ROLLBACK PREPARED`,
    );
  const { seconds = 0, program = '' } = oldestTransaction ?? {};
  if (seconds < LONG_TRANSACTION_SECONDS) {
    if (abandoned === 0) yield good('transactions', 'none lasts longer than a minute');
    return;
  }
  const text = `one of ${program} has lasted ${Math.floor(seconds / 60)} minutes; the space of deleted rows cannot be reused until it ends`;
  yield (seconds < HINDERING_TRANSACTION_SECONDS ? advice : problem)('transactions', text);
}

function clock(offsetMs: number): Finding {
  const size = Math.abs(offsetMs);
  if (size < LARGE_OFFSET_MS) return good('clock', 'that of this machine agrees with the server');
  const direction = offsetMs < 0 ? 'behind' : 'ahead of';
  return advice(
    'clock',
    `that of this machine is ${(size / 1000).toFixed(1)} s ${direction} the server, whose time is used instead: run NTP`,
  );
}

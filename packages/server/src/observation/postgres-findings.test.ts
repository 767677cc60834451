import type { ServerFacts } from '@parley/postgres';
import { findingsOn } from './postgres-findings.js';

const SOUND: ServerFacts = {
  version: '15.18',
  databaseBytes: 3 * 1024 * 1024,
  fullPageWrites: true,
  checksums: true,
  autovacuum: true,
  synchronousStandbys: '',
  standbys: 0,
  maxSessions: 97,
  sessions: 13,
  oldestTransaction: { seconds: 2, program: 'parley' },
  abandoned: 0,
  clockOffsetMs: 12,
};

it('parley doctor recommends no changes to a healthy PostgreSQL server', () => {
  const findings = [...findingsOn(SOUND, 12)];
  expect(findings.map(({ level }) => level)).toEqual(['good', 'good', 'good', 'good', 'good']);
  expect(findings.map(({ text }) => text)).toEqual([
    'PostgreSQL 15.18; the database has 3.0 MiB',
    'commits wait for the disk; no standby is connected',
    '13 of 97 connections are in use; there is room for 7 more servers',
    'none lasts longer than a minute',
    'that of this machine agrees with the server',
  ]);
});

it.each<readonly [Partial<ServerFacts>, string, string]>([
  [{ fullPageWrites: false }, 'advice', 'full_page_writes is off: '],
  [{ checksums: false }, 'advice', 'data checksums are off: '],
  [{ autovacuum: false }, 'problem', 'autovacuum is off: '],
  [{ standbys: 1 }, 'advice', 'no commit waits for a standby: '],
  [{ sessions: 86 }, 'problem', '86 of 97 connections are in use, too few for one more server, which opens up to 12: '],
  [{ maxSessions: 10, sessions: 12 }, 'problem', '12 of 10 connections are in use, too few for one more server'],
  [{ oldestTransaction: { seconds: 150, program: 'pg_dump' } }, 'advice', 'one of pg_dump has lasted 2 minutes; '],
  [{ oldestTransaction: { seconds: 7200, program: 'psql' } }, 'problem', 'one of psql has lasted 120 minutes; '],
  [{ abandoned: 2 }, 'problem', '2 prepared transactions were left: '],
  [{ clockOffsetMs: -2500 }, 'advice', 'that of this machine is 2.5 s behind the server, whose time is used instead'],
  [
    { clockOffsetMs: 60_000 },
    'advice',
    'that of this machine is 60.0 s ahead of the server, whose time is used instead',
  ],
])('parley doctor reports %j', (facts, level, text) => {
  const found = [...findingsOn({ ...SOUND, ...facts }, 12)].filter((finding) => finding.level !== 'good');
  expect(found).toEqual([{ level, subject: expect.any(String), text: expect.stringContaining(text) }]);
});

it('parley doctor accepts a synchronous standby', () => {
  const findings = [...findingsOn({ ...SOUND, synchronousStandbys: 'ANY 1 (b)', standbys: 1 }, 12)];
  expect(findings.map(({ text }) => text)).toContain('commits wait for the standby ANY 1 (b)');
});

import { callsInto } from './derived/calls.js';
import { Coverage, nameOf } from './derived/coverage.js';
import { ROUTES } from './derived/routes.js';
import type { Step, StepKind } from './faults.js';
import { plan, run } from './simulate.js';

const DAY = { seed: 7, days: 1, people: 3, faults: 0 };

const HOUR = 3600;
const step = (hour: number, kind: StepKind, a = 0.5, b = 0.2): Step => ({ at: hour * HOUR, kind, by: 1, a, b });

describe('simulation', () => {
  it('plays another trace for another seed', async () => {
    const digests = new Set<string>();
    for (const seed of [1, 2]) {
      const { digest } = await run({ seed, people: DAY.people, steps: plan({ ...DAY, seed }), until: 5 });
      digests.add(digest);
    }
    expect(digests.size).toBe(2);
  });

  it('keeps every invariant for a day with calls of all routes, and repeats the same trace for the same seed', async () => {
    const steps = plan({ ...DAY, calls: 25 });
    const play = async () => {
      const coverage = new Coverage();
      const outcome = await run({ seed: 7, people: DAY.people, steps, calls: callsInto(coverage) });
      const successes = ROUTES.filter((route) => coverage.of(nameOf(route)).successes > 0).length;
      return { ...outcome, successes, events: coverage.events.size };
    };
    const outcome = await play();
    expect(outcome.violation).toBeNull();
    expect(outcome.messages).toBeGreaterThan(10);
    expect(outcome.successes).toBeGreaterThan(100);
    expect(outcome.events).toBeGreaterThan(25);
    expect(await play()).toEqual(outcome);
  });

  it('plans the same other steps with and without calls', () => {
    const others = plan({ ...DAY, faults: 1, calls: 5 }).filter(({ kind }) => kind !== 'call');
    expect(others).toEqual(plan({ ...DAY, faults: 1 }));
  });

  it('keeps every invariant for a day on two servers of one database', async () => {
    const { violation, messages } = await run({ ...DAY, nodes: 2, steps: plan({ ...DAY, faults: 1 }) });
    expect(violation).toBeNull();
    expect(messages).toBeGreaterThan(5);
  });

  it.each<[string, readonly Step[]]>([
    [
      'a send is repeated after its event queue has expired',
      [step(8, 'goOffline'), step(12, 'loseAnswer'), step(13, 'comeBack')],
    ],
    [
      'the backup of the morning is restored',
      [step(9, 'send'), step(32, 'react'), step(33, 'send'), step(34, 'restore'), step(35, 'send'), step(36, 'read')],
    ],
    [
      'the database file of the morning is put back twice without a restore',
      [
        ...[step(9, 'send'), step(32, 'react'), step(33, 'send'), step(34, 'putBackFile'), step(35, 'send')],
        ...[step(36, 'read'), step(37, 'send'), step(38, 'putBackFile'), step(39, 'send'), step(40, 'edit')],
      ],
    ],
    [
      'files are uploaded, read and deleted, and a backup is restored',
      [
        ...[step(9, 'upload'), step(10, 'download'), step(32, 'deleteFile'), step(33, 'download'), step(34, 'restore')],
        ...[step(35, 'download'), step(36, 'upload', 0.9), step(37, 'download', 0.9), step(38, 'edit')],
      ],
    ],
    [
      'commits fail on a broken disk',
      [step(9, 'send'), step(10, 'diskBroken', 0.1), step(11, 'send'), step(12, 'search'), step(13, 'send')],
    ],
    [
      'a crash interrupts a unit of work and tears the log',
      [step(9, 'send'), step(10, 'crash', 0, 0.5), step(10, 'send'), step(11, 'send')],
    ],
    [
      'the bot is asked, and a message that is being emailed is deleted',
      [step(9, 'ask'), step(9.01, 'send', 0.1), step(9.02, 'delete', 0.99), step(10, 'send'), step(11, 'send', 0.1)],
    ],
    [
      'the company is copied and histories are imported, with crashes and a restored backup',
      [
        ...[step(9, 'upload'), step(10, 'copyCompany', 0.1, 0.5), step(11, 'importHistory', 0.1, 0.2)],
        ...[step(32, 'importHistory'), step(33, 'restore'), step(34, 'importHistory'), step(35, 'copyCompany')],
      ],
    ],
    [
      'the last release is upgraded, with a crash in between, and its file and queues are used afterwards',
      [
        ...[step(9, 'upload'), step(9.01, 'edit'), step(9.02, 'upgrade', 0.3), step(9.03, 'download')],
        ...[step(9.04, 'upgrade', 0.9), step(9.05, 'search'), step(9.06, 'edit'), step(10, 'deleteFile')],
      ],
    ],
    [
      'a message that a former subscriber has is moved after the person has registered again',
      [
        ...[{ ...step(9, 'send', 0.9, 0.9), by: 0 }, step(9.01, 'leave', 0.9), step(9.02, 'leave', 0.9)],
        ...[step(9.03, 'wipe'), { ...step(9.04, 'move', 0.99, 0.51), by: 0 }, step(9.05, 'comeBack')],
      ],
    ],
    [
      'a topic of dozens of messages is deleted before a client without a capability polls again',
      [
        ...[step(9, 'send', 0.5, 0), step(9.01, 'discuss', 0.5, 0), step(32, 'discuss', 0.5, 0.9)],
        ...[step(33, 'deleteTopic', 0.99, 0), step(33.01, 'send', 0.5, 0)],
      ],
    ],
    [
      'hundreds of events wait in the queues, and the topic is moved and deleted',
      [
        ...[step(9, 'send', 0.5, 0), step(9.01, 'discuss', 0.5, 0.95), { ...step(9.02, 'move', 0.99, 0.5), by: 0 }],
        ...[step(9.03, 'markUnread', 0.5, 0.1), step(9.04, 'deleteTopic', 0.99, 0), step(9.05, 'send', 0.5, 0)],
      ],
    ],
    ['a client waits for a message', [step(9, 'send', 0, 0), step(9.001, 'send', 0.9, 0.9)]],
    ['the owner changes a role and thereby the members of system groups', [step(9, 'send'), step(9.01, 'promote')]],
  ])('keeps every invariant if %s', async (_, steps) => {
    const { violation } = await run({ seed: 3, people: 3, steps });
    expect(violation).toBeNull();
  });
});

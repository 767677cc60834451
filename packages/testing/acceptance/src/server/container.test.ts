import type { BlobKey } from '@parley/domain/files';
import { encodeJob, type JobHandler, jobKind } from '@parley/domain/kernel';
import { PresenceBoard, VerifyApiKey, VerifySession } from '@parley/domain/users';
import {
  Addresses,
  composeParley,
  createContainer,
  FacadeEvents,
  LimitReset,
  LoadMonitor,
  MessageIndexing,
  NotificationWorker,
  Promotion,
} from '@parley/server/testing';
import { serverPerSuite } from '../testing/servers.js';

describe('createContainer', () => {
  const { server } = serverPerSuite();

  it('passes commits to the event follower and evicts API keys before clients receive the event', () => {
    const { get, resolve } = createContainer(server.parts);
    expect(get('commitListeners')).toEqual([get('follower'), get('jobWorkers')]);
    expect(get('eventListeners')).toEqual([
      resolve(VerifyApiKey),
      resolve(VerifySession),
      resolve(PresenceBoard),
      get('hub'),
      resolve(LimitReset),
      resolve(Promotion),
      resolve(MessageIndexing),
      resolve(Addresses),
      resolve(FacadeEvents),
      resolve(NotificationWorker),
      get('consumers'),
    ]);
  });

  it('creates one of each worker that the options enable', () => {
    const named = (options: Partial<typeof server.parts>) =>
      createContainer({ ...server.parts, ...options })
        .get('workers')
        .map(({ name }) => name);
    const always = [
      'holding leases',
      'marking idle channels',
      'removing unused groups',
      'reading events of other processes',
      'removing expired event queues',
      'limiting the event log',
      'following the clock',
      'exchanging rate limit counts',
      'ending leases of stopped servers',
      'removing rate limit counts',
      'storing presence',
      'promoting members',
      'deleting expired messages',
      'removing unused files',
      'removing old entries of the audit log',
      'checking schemas of data',
      'removing expired sessions',
      'copying erasures to the ledger',
      'removing expired addresses',
      'removing expired log-ins',
      'running jobs',
      'indexing messages for search',
      'reading files for search',
      'removing failed jobs',
      'asking the push service which organizations it serves',
      'planning digests',
      'finding due notifications',
      'the consumers of events',
    ];
    expect(named({})).toEqual(always);
    expect(named({ sharesFiles: true })).toEqual(always.filter((name) => name !== 'removing unused files'));
    const storageParts = { verifyStorage: () => {}, examineStorage: async () => {}, keepHistory: async () => {} };
    expect(named({ shedsLoad: true, ...storageParts }).sort()).toEqual(
      [
        ...[...always, 'measuring load', 'checking the database file', 'examining the database server'],
        'remembering the history of the database',
      ].sort(),
    );
  });

  it('logs how many unused files it has removed', async () => {
    await server.parts.blobs.put('ab'.repeat(16) as BlobKey, [] as never);
    server.clock.advance(3601);
    const info = jest.fn();
    let isRun = false;
    const after = (_: number, run: () => void) => {
      if (!isRun) setImmediate(run);
      isRun = true;
      return () => {};
    };
    const timers = { after, every: () => () => {}, elapsedMs: () => 0 };
    const { get } = createContainer({ ...server.parts, timers, logger: { info, error: jest.fn() } });
    get('clockWatch').compare(null);
    const sweep = get('workers').find(({ name }) => name === 'removing unused files')!;
    sweep.start();
    while (info.mock.calls.length === 0) await new Promise(setImmediate);
    await sweep.stop();
    expect(info).toHaveBeenCalledWith({ files: 0, uploads: 0, blobs: 1 }, 'removed unused files');
  });

  it('sheds requests by the load that its load monitor measures', () => {
    const container = createContainer({ ...server.parts, shedsLoad: true });
    const overload = { delayMs: 2000, memory: 0, residentBytes: 0 };
    for (let sample = 0; sample < 3; sample++) container.resolve(LoadMonitor).judge(overload);
    expect(container.get('load').level).toBe('overloaded');
  });

  it('runs a job soon after the commit that schedules it until the server closes', async () => {
    const kind = jobKind<{ readonly name: string }>({
      name: 'test.post',
      readPayload: (stored) => stored as { readonly name: string },
    });
    const done: string[] = [];
    let onDone = () => {};
    const handler: JobHandler<{ readonly name: string }> = {
      kind,
      prepare:
        async ({ payload }) =>
        async () => {
          done.push(payload.name);
          onDone();
        },
    };
    const parley = await composeParley({ ...server.parts, moreJobHandlers: [handler], release: async () => {} });
    const schedule = (name: string) =>
      parley.ports.unitOfWork.write(server.realmId, (tx) =>
        tx.jobs.schedule(
          encodeJob(kind, { realmId: server.realmId, dueAt: parley.ports.clock.now(), payload: { name } }),
        ),
      );
    // Longer than the initial job poll of a new server, much shorter than the interval to the next one.
    await new Promise((resolve) => setTimeout(resolve, 100));
    const isDone = new Promise<void>((resolve) => {
      onDone = resolve;
    });
    await schedule('a');
    await isDone;
    expect(done).toEqual(['a']);
    await parley.close();
    await schedule('b');
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(done).toEqual(['a']);
  });
});

import { refuse } from '@parley/server';
import { type SimulatedApp, type SimulatedStep, simulate } from './index.js';

const step = (at: number, kind: string, by: number, a = 0.5, b = 0.1): SimulatedStep => ({ at, kind, by, a, b });
const MORNING = [
  step(30_000, 'send', 0),
  step(30_001, 'send', 1),
  step(30_002, 'edit', 1),
  step(30_100, 'crashNow', 1),
];
const SEND = step(30_200, 'send', 1);

const play = (app: () => SimulatedApp, steps = [...MORNING, SEND]) => simulate({ app, seed: 1, people: 2, steps });

describe('simulate', () => {
  it('starts the application again after a crash, on the same state', async () => {
    const starts: string[] = [];
    const app = (): SimulatedApp => ({
      start: (_, { realm, clock }) => void starts.push(`${realm} ${clock.now() > 0}`),
    });
    const { violation, crashes } = await play(app);
    expect([violation, crashes, starts]).toEqual([null, 1, ['company true', 'company true']]);
  });

  it('keeps every invariant with hooks that refuse and change messages', async () => {
    let refused = 0;
    const app = (): SimulatedApp => ({
      start(parley) {
        parley.before('message.send', ({ content, sender }) => {
          if (sender.externalId === 'p0') return { content: `${content} (by the owner)`, data: { isOwner: true } };
          refused++;
          throw refuse('Not today.');
        });
      },
      check({ messages }) {
        if (messages.some(({ sender }) => sender !== 'p0')) throw new Error('a refused message exists');
      },
    });
    const { violation, messages } = await play(app);
    expect([violation, messages, refused]).toEqual([null, 1, 2]);
  });

  it('finds a start that fails after a crash, and reduces the run to the crash', async () => {
    const app = (): SimulatedApp => {
      let isCreated = false;
      return {
        start() {
          if (isCreated) throw new Error('the table exists');
          isCreated = true;
        },
      };
    };
    const { violation } = await play(app);
    expect(violation).toMatchObject({
      invariant: 'the application starts',
      message: expect.stringContaining('the table exists'),
      steps: [MORNING[3]],
    });
    expect(violation!.test).toContain('await simulate({\n    app,\n    seed: 1,\n    people: 2,\n    steps: [\n');
  });

  it('finds a consumer that throws', async () => {
    const app = (): SimulatedApp => ({
      async start(parley) {
        await parley.consume('broken', () => {
          throw new Error('no such customer');
        });
      },
    });
    const { violation } = await simulate({ app, seed: 1, people: 2, steps: [SEND], shrinks: false });
    expect(violation).toMatchObject({ message: expect.stringContaining('no such customer') });
  });

  it('rejects a second simulation in the process while one runs', async () => {
    const first = simulate({ seed: 1, people: 2, steps: [] });
    await expect(simulate({ seed: 1 })).rejects.toThrow('Another simulation is running in this process.');
    expect(await first).toMatchObject({ steps: 0, violation: null });
  });

  it.each([
    [{ seed: 0.5 }, 'seed must be an integer'],
    [{ faults: 'toString' as never }, 'faults must be one of none, small, all.'],
    [{ people: 2, steps: [step(1, 'fly', 0)] }, 'There is no step {"at":1,"kind":"fly"'],
    [{ people: 2, steps: [step(1, 'send', 2)] }, 'with 2 people.'],
  ])('rejects %j', async (options, message) => {
    await expect(simulate(options)).rejects.toThrow(message);
  });
});

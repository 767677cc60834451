import { ClientGone } from './body-rules.js';
import { ClientTurns } from './client-turns.js';

const HERE = { isGone: false };

describe('works of one client', () => {
  const nothingElseToDo = () => new Promise((resolve) => setImmediate(resolve));

  function staged() {
    const turns = new ClientTurns();
    const ends: (() => void)[] = [];
    const begun: string[] = [];
    const ask = (client: string, name: string, request = HERE) =>
      turns.run(client, request, async () => {
        begun.push(name);
        await new Promise<void>((resolve) => ends.push(resolve));
        return name;
      });
    return { turns, ends, begun, ask };
  }

  it('go on four at a time, and the others in their order', async () => {
    const { ends, begun, ask } = staged();
    const asked = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => ask('ann', name));
    await nothingElseToDo();
    expect(begun).toEqual(['a', 'b', 'c', 'd']);
    ends.shift()!();
    await nothingElseToDo();
    expect(begun).toEqual(['a', 'b', 'c', 'd', 'e']);
    while (begun.length < asked.length || ends.length > 0) {
      ends.shift()?.();
      await nothingElseToDo();
    }
    expect(await Promise.all(asked)).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  });

  it('are no more than four after some have ended while nobody waited', async () => {
    const { ends, begun, ask } = staged();
    for (const name of ['a', 'b', 'c', 'd']) void ask('ann', name);
    await nothingElseToDo();
    ends.shift()!();
    await nothingElseToDo();
    for (const name of ['e', 'f']) void ask('ann', name);
    await nothingElseToDo();
    expect(begun).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('do not keep another client waiting', async () => {
    const { begun, ask } = staged();
    for (const name of ['a', 'b', 'c', 'd', 'e']) void ask('ann', name);
    void ask('bob', 'x');
    await nothingElseToDo();
    expect(begun).toEqual(['a', 'b', 'c', 'd', 'x']);
  });

  it('make room for the next when they fail', async () => {
    const turns = new ClientTurns();
    const fail = () => turns.run('ann', HERE, () => Promise.reject(new Error('failed')));
    for (const asked of Array.from({ length: 10 }, fail)) await expect(asked).rejects.toThrow('failed');
    expect(await turns.run('ann', HERE, async () => 'done')).toBe('done');
  });

  it('are left out when the client has gone before their turn', async () => {
    const { ends, begun, ask } = staged();
    for (const name of ['a', 'b', 'c', 'd']) void ask('ann', name);
    const left = { isGone: false };
    const asked = ask('ann', 'e', left);
    left.isGone = true;
    ends.shift()!();
    await expect(asked).rejects.toBeInstanceOf(ClientGone);
    void ask('ann', 'f');
    await nothingElseToDo();
    expect(begun).toEqual(['a', 'b', 'c', 'd', 'f']);
  });

  it('are refused when a thousand wait', async () => {
    const { ask } = staged();
    for (let n = 0; n < 1004; n++) void ask('ann', 'one');
    await expect(ask('ann', 'one more')).rejects.toMatchObject({ status: 429 });
  });
});

import { FairQueue } from './fair-queue.js';

describe('a fair queue', () => {
  const drain = (queue: FairQueue<string>): string => {
    let all = '';
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) all += item;
    return all;
  };

  it('gives one item of each client in turn, and those of one client in their order', () => {
    const queue = new FairQueue<string>();
    for (const item of ['a', 'b', 'c', 'd']) queue.push(1, item);
    for (const item of ['x', 'y']) queue.push(2, item);
    queue.push(3, '!');
    expect([queue.length, queue.lengthOf(1), queue.lengthOf(4)]).toEqual([7, 4, 0]);
    expect(drain(queue)).toBe('ax!bycd');
    expect([queue.length, queue.lengthOf(1)]).toEqual([0, 0]);
    expect(queue.shift()).toBeUndefined();
  });

  it('puts a client who had nothing left behind the others', () => {
    const queue = new FairQueue<string>();
    for (const item of ['a', 'b']) queue.push(1, item);
    queue.push(2, 'x');
    expect([queue.shift(), queue.shift()]).toEqual(['a', 'x']);
    queue.push(2, 'y');
    queue.push(1, 'c');
    expect(drain(queue)).toBe('byc');
  });
});

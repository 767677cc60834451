import { inTimeSlices } from './time-slices.js';

class Notes {
  readonly calls: string[] = [];

  constructor(private readonly prefix: string) {}

  async add(text: string): Promise<number> {
    this.calls.push(this.prefix + text);
    return this.calls.length;
  }
}

class SharedNotes extends Notes {}

describe('inTimeSlices', () => {
  it('makes calls synchronously within the time slice', () => {
    const inner = new SharedNotes('>');
    const { notes } = inTimeSlices({ notes: inner }, { nextSlice: () => null });
    void notes.add('a');
    expect(inner.calls).toEqual(['>a']);
  });

  it('delays calls after the time slice until the next one', async () => {
    let resume = () => {};
    const pause = new Promise<void>((resolve) => {
      resume = resolve;
    });
    const inner = new SharedNotes('>');
    const { notes } = inTimeSlices({ notes: inner }, { nextSlice: () => pause });
    const added = Promise.all([notes.add('a'), notes.add('b')]);
    await Promise.resolve();
    expect(inner.calls).toEqual([]);
    resume();
    expect(await added).toEqual([1, 2]);
  });

  it('wraps the methods of plain objects', async () => {
    const { counter } = inTimeSlices(
      { counter: { next: async (n: number) => n + 1 } },
      { nextSlice: () => Promise.resolve() },
    );
    expect(await counter.next(4)).toBe(5);
  });

  describe('with sliced sets', () => {
    class Users {
      readonly calls: unknown[] = [];

      async list(ids: readonly number[]): Promise<readonly number[]> {
        this.calls.push(ids);
        return [...ids].sort((a, b) => a - b);
      }

      async rowsOf(ids: readonly number[], channels: readonly string[]): Promise<ReadonlyMap<number, string>> {
        this.calls.push([ids, channels]);
        return new Map(ids.map((id) => [id, channels.join()]));
      }

      async open(channels: readonly string[], ids: readonly number[]): Promise<void> {
        this.calls.push([channels, ids]);
      }
    }

    let inner: Users;
    let users: Users;
    beforeEach(() => {
      inner = new Users();
      const sliced = {
        users: {
          list: { positions: [0], size: 2 },
          rowsOf: { positions: [0], size: 4 },
          open: { positions: [0, 1], size: 2 },
        },
      };
      ({ users } = inTimeSlices({ users: inner }, { nextSlice: () => null }, sliced));
    });

    it('makes one call for small sets', async () => {
      expect(await users.list([2, 1])).toEqual([1, 2]);
      expect(inner.calls).toEqual([[2, 1]]);
    });

    it('joins lists by ascending id', async () => {
      expect(await users.list([5, 3, 1, 4, 2])).toEqual([1, 2, 3, 4, 5]);
      expect(inner.calls).toEqual([[1, 2], [3, 4], [5]]);
    });

    it('joins maps, with smaller slices for more other elements', async () => {
      expect([...(await users.rowsOf([1, 2, 3], ['a', 'b']))]).toEqual([
        [1, 'a,b'],
        [2, 'a,b'],
        [3, 'a,b'],
      ]);
      expect(inner.calls).toEqual([
        [
          [1, 2],
          ['a', 'b'],
        ],
        [[3], ['a', 'b']],
      ]);
    });

    it('makes one call per element if the other sets are too large', async () => {
      await users.rowsOf([1, 2], ['a', 'b', 'c', 'd', 'e']);
      expect(inner.calls).toHaveLength(2);
    });

    it('slices several sets', async () => {
      await users.open(['a', 'b', 'c'], [1, 2]);
      expect(inner.calls).toEqual([
        [['a', 'b'], [1]],
        [['a', 'b'], [2]],
        [['c'], [1, 2]],
      ]);
    });
  });
});

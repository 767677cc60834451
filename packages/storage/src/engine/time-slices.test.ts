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
});

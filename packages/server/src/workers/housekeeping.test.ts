import { Housekeeping } from './housekeeping.js';

describe('Housekeeping', () => {
  const errors: unknown[] = [];
  const logger = { info: () => {}, error: (fields: object, message: string) => errors.push([fields, message]) };
  let catchUps: number;
  let sweeps: number;
  let looks: number;
  let housekeeping: Housekeeping;

  beforeEach(() => {
    jest.useFakeTimers();
    errors.length = 0;
    catchUps = 0;
    sweeps = 0;
    looks = 0;
  });
  afterEach(async () => {
    await housekeeping.stop();
    jest.useRealTimers();
  });

  const start = (catchUp: () => Promise<void> = async () => {}) => {
    housekeeping = new Housekeeping(
      {
        catchUp: () => {
          catchUps++;
          return catchUp();
        },
      },
      { run: async () => void sweeps++ },
      logger,
      () => {
        looks++;
        throw new Error('the storage tells of it itself');
      },
    );
  };

  it('looks for news every second, and tidies up every minute', async () => {
    start();
    await jest.advanceTimersByTimeAsync(120_000);
    expect(catchUps).toBe(120);
    expect(sweeps).toBe(2);
  });

  it('looks after the files of the storage every second, also while something else takes its time', async () => {
    let end = () => {};
    start(() => new Promise((resolve) => (end = resolve)));
    await jest.advanceTimersByTimeAsync(10_000);
    expect(looks).toBe(10);
    expect(errors).toEqual([]);
    end();
  });

  it('goes on after a failure, and tells of it', async () => {
    start(() => Promise.reject(new Error('disk full')));
    await jest.advanceTimersByTimeAsync(2000);
    expect(catchUps).toBe(2);
    expect(errors[0]).toEqual([{ err: new Error('disk full') }, 'reading what other processes wrote failed']);
  });

  it('tells of the same failure once a minute only', async () => {
    let isFailing = true;
    start(async () => {
      if (isFailing) throw new Error('disk full');
    });
    await jest.advanceTimersByTimeAsync(59_000);
    expect(errors).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(errors).toHaveLength(2);
    isFailing = false;
    await jest.advanceTimersByTimeAsync(1000);
    isFailing = true;
    await jest.advanceTimersByTimeAsync(1000);
    expect(errors).toHaveLength(3);
  });

  it('does not begin anew before it has ended', async () => {
    let end = () => {};
    start(() => new Promise((resolve) => (end = resolve)));
    await jest.advanceTimersByTimeAsync(10_000);
    expect(catchUps).toBe(1);
    end();
    await jest.advanceTimersByTimeAsync(1000);
    expect(catchUps).toBe(2);
    end();
  });

  it('stops, after what is under way', async () => {
    let end = () => {};
    start(() => new Promise((resolve) => (end = resolve)));
    await jest.advanceTimersByTimeAsync(1000);
    let hasStopped = false;
    const stopped = housekeeping.stop().then(() => (hasStopped = true));
    await jest.advanceTimersByTimeAsync(5000);
    expect(hasStopped).toBe(false);
    end();
    await stopped;
    await jest.advanceTimersByTimeAsync(5000);
    expect(catchUps).toBe(1);
  });
});

import { SystemTimers } from '@parley/node-adapters';
import { DrivenTime } from '@parley/testkit';
import { LoadMonitor, type LoadSample, ProcessGauge } from './load-monitor.js';

const idle: LoadSample = { delayMs: 5, memory: 0.1, residentBytes: 1e8 };
const lagging: LoadSample = { ...idle, delayMs: 300 };
const stuck: LoadSample = { ...idle, delayMs: 1500 };
const filling: LoadSample = { ...idle, memory: 0.9 };
const full: LoadSample = { ...idle, memory: 0.95 };

describe('LoadMonitor', () => {
  const said: [object, string][] = [];
  const logger = { info: () => {}, error: (fields: object, message: string) => void said.push([fields, message]) };
  let monitor: LoadMonitor;
  beforeEach(() => {
    said.length = 0;
    monitor = new LoadMonitor(logger, new DrivenTime(), { start: () => {}, take: () => idle, stop: () => {} });
  });
  const levelAfter = (...samples: readonly LoadSample[]) => {
    for (const sample of samples) monitor.judge(sample);
    return monitor.level;
  };

  it.each([
    ['one long turn', [idle, stuck, idle, lagging, lagging, idle], 'normal'],
    ['a lagging event loop', [lagging, lagging, lagging], 'busy'],
    ['a stuck event loop', [stuck, stuck, stuck], 'overloaded'],
    ['a filling heap', [filling, filling, filling], 'busy'],
    ['a full heap', [full, full, full], 'overloaded'],
    ['consecutive problems', [stuck, lagging, full], 'busy'],
  ])('identifies %s', (_what, samples, level) => {
    expect(levelAfter(...samples)).toBe(level);
  });

  it('lowers the level more slowly than it raises it and reports each change once', () => {
    monitor.watch(() => ({ requests: 3, responses: 1000 }));
    expect(levelAfter(stuck, stuck, stuck, stuck)).toBe('overloaded');
    expect(levelAfter(idle, idle, lagging, idle, idle)).toBe('overloaded');
    expect(levelAfter(idle)).toBe('busy');
    expect(levelAfter(idle, idle)).toBe('busy');
    expect(levelAfter(idle, idle, idle, idle)).toBe('normal');
    expect(said.map(([, message]) => message)).toEqual([
      'the server is overloaded: requests are rejected',
      'the server is busy: requests are rejected',
      'the load is normal again',
    ]);
    expect(said[0]![0]).toEqual({
      load: 'overloaded',
      delayMs: 1500,
      heapUsed: expect.any(Number),
      rss: expect.any(Number),
      requests: 3,
      responses: 1000,
    });
  });

  it('samples twice a second while running', async () => {
    const time = new DrivenTime();
    let samples = 0;
    const take = () => {
      samples++;
      return stuck;
    };
    monitor = new LoadMonitor(logger, time, { start: () => {}, take, stop: () => {} });
    await time.advance(2);
    expect(samples).toBe(0);
    monitor.start();
    await time.advance(2);
    expect(samples).toBe(4);
    await monitor.stop();
    await time.advance(2);
    expect([samples, time.pending]).toEqual([4, 0]);
  });

  it('takes no samples from ten seconds after the last request until the next one', async () => {
    const time = new DrivenTime();
    let samples = 0;
    const take = () => {
      samples++;
      return idle;
    };
    monitor = new LoadMonitor(logger, time, { start: () => {}, take, stop: () => {} });
    monitor.start();
    await time.advance(8);
    expect(monitor.level).toBe('normal');
    await time.advance(3600);
    expect([samples, time.pending]).toEqual([36, 0]);
    expect(monitor.level).toBe('normal');
    await time.advance(2);
    expect(samples).toBe(40);
    await monitor.stop();
  });

  it('continues sampling without requests until the load is normal', async () => {
    const time = new DrivenTime();
    let sample = stuck;
    monitor = new LoadMonitor(logger, time, { start: () => {}, take: () => sample, stop: () => {} });
    monitor.start();
    await time.advance(3600);
    expect(time.pending).toBe(1);
    sample = idle;
    await time.advance(10);
    expect(said.at(-1)![1]).toBe('the load is normal again');
    expect(time.pending).toBe(0);
    await monitor.stop();
  });

  it.each([
    ['ignores the delays of a slow start', [stuck, stuck, stuck, stuck, idle], 'normal'],
    ['sheds load after the start', [stuck, idle, stuck, stuck, stuck], 'overloaded'],
    ['sheds load right after a quick start', [idle, stuck, stuck, stuck], 'overloaded'],
    ['treats delays after ten seconds as load', Array(23).fill(stuck), 'overloaded'],
    ['treats delays of less than ten seconds as part of the start', Array(19).fill(stuck), 'normal'],
    ['sheds load when memory is short during the start', [full, full, full], 'overloaded'],
  ])('%s', async (_what, samples: readonly LoadSample[], level) => {
    const time = new DrivenTime();
    const left = [...samples];
    monitor = new LoadMonitor(logger, time, { start: () => {}, take: () => left.shift()!, stop: () => {} });
    monitor.start();
    await time.advance(samples.length / 2);
    expect(monitor.level).toBe(level);
    await monitor.stop();
  });
});

describe('ProcessGauge', () => {
  it('measures how long the event loop was blocked, even between samples', async () => {
    const gauge = new ProcessGauge(new SystemTimers());
    gauge.start();
    const hold = (ms: number) => {
      for (const since = performance.now(); performance.now() - since < ms; );
    };
    await new Promise((resolve) => setTimeout(resolve, 60));
    gauge.take();
    hold(300);
    expect(gauge.take().delayMs).toBeGreaterThan(200);
    await new Promise((resolve) => setTimeout(resolve, 60));
    gauge.take();
    hold(200);
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(gauge.take().delayMs).toBeGreaterThan(100);
    gauge.stop();
  });

  it('measures memory as a fraction of the available memory', () => {
    const gauge = new ProcessGauge(new SystemTimers());
    gauge.start();
    expect(gauge.take().memory).toBeGreaterThan(0);
    expect(gauge.take().memory).toBeLessThan(1);
    const { memory } = gauge.take();
    const rss = jest.spyOn(process.memoryUsage, 'rss').mockImplementation(() => {
      throw Object.assign(new Error('EMFILE: too many open files, uv_resident_set_memory'), { code: 'EMFILE' });
    });
    expect(gauge.take().memory).toBeCloseTo(memory, 1);
    rss.mockRestore();
    gauge.stop();
  });
});

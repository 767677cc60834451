import cluster from 'node:cluster';
import { noteOpenFile } from './open-files.js';

describe('an open SQLite file', () => {
  const lines: string[] = [];
  const logger = { info: () => {}, error: () => {}, warn: (_fields: object, text: string) => lines.push(text) };
  const open = (path: string, isOneOff = false) =>
    noteOpenFile({ database: { kind: 'sqlite', path } }, { isOneOff, logger });
  afterEach(() => {
    lines.length = 0;
    Object.assign(cluster, { worker: undefined });
  });

  it('is named in the log when the process opens it again before it is closed', () => {
    const close = open('a.db');
    open('b.db')();
    open('./a.db', true)();
    expect(lines).toEqual([]);
    open('./a.db')();
    expect(lines).toEqual([expect.stringContaining('this process has opened the database twice')]);
    close();
    open('a.db')();
    expect(lines.length).toBe(1);
  });

  it.each([
    [undefined, 0],
    [1, 0],
    [2, 1],
  ])('is named in the log by worker %s of a cluster %i times', (id, count) => {
    if (id !== undefined) Object.assign(cluster, { worker: { id } });
    open('a.db')();
    expect(lines).toEqual(Array(count).fill(expect.stringContaining('workers of node:cluster share an SQLite file')));
  });
});

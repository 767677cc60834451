import type { GroupId } from '@parley/domain/kernel';
import { Quarantine } from './quarantine.js';
import { groupSettingsColumn } from './rows.js';

describe('groupSettingsColumn', () => {
  const refusing = new Quarantine((problem) => {
    throw new Error(problem);
  });
  const nobody = () => 1 as GroupId;
  const newReader = () => {
    const column = groupSettingsColumn({ canSee: {}, canSend: {} }, 'thing');
    return (id: number, canSee: number) =>
      column.fromJson(JSON.stringify({ canSee, canSend: 8 }), id, refusing, nobody);
  };

  it('returns the same object until the row changes', () => {
    const read = newReader();
    const first = read(1, 7);
    expect(first).toEqual({ canSee: 7, canSend: 8 });
    expect(read(2, 9)).toEqual({ canSee: 9, canSend: 8 });
    expect(read(1, 7)).toBe(first);
    expect(read(1, 9)).toEqual({ canSee: 9, canSend: 8 });
    expect(read(1, 7)).toEqual(first);
  });

  it('reads a row without permissions as nobody, without a report', () => {
    const column = groupSettingsColumn({ canSee: {}, canSend: {} }, 'thing');
    expect(column.fromJson('{}', 1, refusing, nobody)).toEqual({ canSee: 1, canSend: 1 });
    expect(() => column.fromJson('{"canSee":7}', 1, refusing, nobody)).toThrow('no group for canSend');
  });

  it('caches a limited number of rows', () => {
    const read = newReader();
    const first = read(0, 7);
    for (let id = 1; id < 20_000; id++) read(id, 7);
    expect(read(0, 7)).toBe(first);
    read(20_000, 7);
    expect(read(0, 7)).not.toBe(first);
  });
});

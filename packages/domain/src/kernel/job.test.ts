import { idPayload } from './jobs.js';

describe('idPayload', () => {
  const read = idPayload<{ readonly fileId: number }>('fileId');

  it('ignores unknown stored properties', () => {
    expect(read({ fileId: 7, name: 'a.txt' })).toEqual({ fileId: 7 });
  });

  it.each([[{}], [{ fileId: null }], [{ fileId: '7' }], [{ fileId: 0 }], [{ fileId: 1.5 }]])('rejects %j', (stored) => {
    expect(() => read(stored)).toThrow(TypeError);
  });
});

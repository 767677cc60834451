import { idPayload } from './jobs.js';

describe('the payload of a job that is an id alone', () => {
  const read = idPayload<{ readonly fileId: number }>('fileId');

  it('is read without whatever else was stored', () => {
    expect(read({ fileId: 7, name: 'a.txt' })).toEqual({ fileId: 7 });
  });

  it.each([[{}], [{ fileId: null }], [{ fileId: '7' }], [{ fileId: 0 }], [{ fileId: 1.5 }]])(
    'cannot be %j',
    (stored) => {
      expect(() => read(stored)).toThrow(TypeError);
    },
  );
});

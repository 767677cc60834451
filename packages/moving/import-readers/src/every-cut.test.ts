import { cutsOf, NewerExports, SOURCES } from './testing/cut-exports.js';

const NO_EFFECTS = { deleted: [], changed: [], repeated: [], newChannels: [], left: 0, becomePrivate: 0 };

describe.each(SOURCES)('a newer export of %s', (_, reader, pieces) => {
  it('deletes, changes and repeats nothing, wherever it is cut and whatever file it lacks', async () => {
    const newer = await NewerExports.after(reader, pieces);
    const wrong: unknown[] = [];
    for (const { name, files } of cutsOf(pieces)) {
      const outcome = await newer.effectsOf(files).catch(({ code, message }) => ({ code, message }));
      const isRight =
        'code' in outcome ? outcome.code === 'INVALID_IMPORT' : JSON.stringify(outcome) === JSON.stringify(NO_EFFECTS);
      if (!isRight) wrong.push([name, outcome]);
    }
    await newer.close();
    expect(wrong).toEqual([]);
  });
});

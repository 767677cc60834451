import fc from 'fast-check';
import { type Cut, cutsOf, filesOf, NewerExports, SOURCES } from './testing/cut-exports.js';

const NO_EFFECTS = { deleted: [], changed: [], repeated: [], newChannels: [], left: 0, becomePrivate: 0 };

describe.each(SOURCES)('a newer export of %s', (_, reader, pieces, messageFile) => {
  let newer: NewerExports;
  beforeAll(async () => {
    newer = await NewerExports.after(reader, pieces);
  });
  afterAll(() => newer.close());

  const outcomeOf = ({ files }: Cut) => newer.effectsOf(files).catch(({ code, message }) => ({ code, message }));

  it('deletes the messages of an element that is missing in a complete file', async () => {
    const parts = pieces[messageFile]!;
    const remaining = parts.toSpliced(Math.floor(parts.length / 2), 1);
    const { deleted, ...others } = await newer.effectsOf(filesOf({ ...pieces, [messageFile]: remaining }));
    expect(deleted).not.toEqual([]);
    expect({ ...others, deleted: [] }).toEqual(NO_EFFECTS);
  });

  it('deletes, changes and repeats nothing if it is cut somewhere or lacks a file', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...cutsOf(pieces)), async (cut) => {
        const outcome = await outcomeOf(cut);
        if (!('code' in outcome)) expect([cut.name, outcome]).toEqual([cut.name, NO_EFFECTS]);
        else expect([cut.name, outcome.code]).toEqual([cut.name, 'INVALID_IMPORT']);
      }),
      { numRuns: 20 },
    );
  });
});

import { EVENT_FORMATS, FEATURES } from './features.js';

describe('FEATURES', () => {
  it('declares the format of each event once', () => {
    const types = FEATURES.flatMap(({ eventFormats = {} }) => Object.keys(eventFormats));
    expect(types.length).toBeGreaterThan(50);
    expect(types.sort()).toEqual(Object.keys(EVENT_FORMATS).sort());
  });
});

import { FieldTexts } from './field-texts.js';
import { atTheSameMoment, simulateStorage } from './testing/windows.js';

let stored: Record<string, string>;
beforeEach(() => {
  stored = simulateStorage();
  jest.useFakeTimers();
});
afterEach(() => jest.useRealTimers());

const windowOf = () => new FieldTexts('texts');
const textsOf = (window: FieldTexts) => [...window.texts.peek()].map(([field, { text }]) => [field, text]);
const baseOf = (window: FieldTexts) => window.texts.peek().get('edit 1')?.base;

describe('FieldTexts', () => {
  it('keeps texts when the window closes', () => {
    const [one, two] = [windowOf(), windowOf()];
    one.set('edit 1', 'changed');
    two.set('edit 2', 'other');
    expect(textsOf(windowOf())).toEqual([
      ['edit 1', 'changed'],
      ['edit 2', 'other'],
    ]);
  });

  it('keeps the texts that two windows change at the same moment', () => {
    const [one, two] = [windowOf(), windowOf()];
    atTheSameMoment(
      () => one.set('edit 1', 'changed'),
      () => two.set('edit 2', 'other'),
    );
    expect(new Map(textsOf(windowOf()) as [string, string][])).toEqual(
      new Map([
        ['edit 1', 'changed'],
        ['edit 2', 'other'],
      ]),
    );
  });

  it('removes finished texts from the storage', () => {
    const window = windowOf();
    window.set('edit 1', 'changed');
    window.set('edit 1', null);
    expect(textsOf(windowOf())).toEqual([]);
    expect(Object.keys(stored).length).toBe(0);
  });

  it('keeps changed texts of a closed field and shows them when it is reopened', () => {
    const window = windowOf();
    window.begin('edit 1', 'sent');
    window.begin('edit 1', 'sent');
    expect(window.isOpen('edit 1')).toBe(true);
    window.close('edit 1');
    expect([window.isOpen('edit 1'), Object.keys(stored).length]).toEqual([null, 0]);
    window.begin('edit 1', 'sent');
    window.set('edit 1', 'changed');
    window.close('edit 1');
    expect([window.isOpen('edit 1'), windowOf().isOpen('edit 1')]).toEqual([false, false]);
    window.begin('edit 1', 'sent');
    expect([window.isOpen('edit 1'), textsOf(window)]).toEqual([true, [['edit 1', 'changed']]]);
    window.close('edit 1');
    expect(textsOf(window)).toEqual([['edit 1', 'changed']]);
    window.set('edit 1', null);
    expect(window.isOpen('edit 1')).toBeNull();
  });

  it('keeps the original text of a field', () => {
    const window = windowOf();
    window.begin('edit 1', 'sent');
    window.set('edit 1', 'changed');
    expect([baseOf(window), baseOf(windowOf())]).toEqual(['sent', 'sent']);
  });

  it('reads texts stored by version 0.2', () => {
    stored.texts = '[["edit 1", "changed in version 0.2"]]';
    expect([baseOf(windowOf()), textsOf(windowOf())]).toEqual([null, [['edit 1', 'changed in version 0.2']]]);
    expect(stored.texts).toBeUndefined();
  });

  it('evicts the least recently changed text if there are too many', () => {
    const window = windowOf();
    for (let id = 0; id < 50; id++) window.set(`edit ${id}`, 'text');
    jest.advanceTimersByTime(1000);
    window.set('edit 0', 'changed again');
    window.set('edit 50', 'one more');
    const kept = windowOf().texts.peek();
    expect([kept.size, kept.has('edit 0'), kept.has('edit 1')]).toEqual([50, true, false]);
  });

  it.each(['{', '{}', '[["edit 1", 5], "x", null]'])('starts empty from damaged storage: %s', (damaged) => {
    Object.assign(stored, { texts: damaged, 'texts edit 2': damaged });
    expect(textsOf(windowOf())).toEqual([]);
  });
});

import { dayText, fieldValueOf, suggestedTimes, timeOfField } from './times.js';

const secondsOf = (year: number, month: number, day: number, hour: number, minute = 0): number =>
  new Date(year, month - 1, day, hour, minute).getTime() / 1000;

describe('suggestedTimes', () => {
  it.each([
    ['a Thursday', new Date(2026, 4, 7, 15, 30), secondsOf(2026, 5, 8, 9), secondsOf(2026, 5, 11, 9)],
    ['a Monday before nine', new Date(2026, 4, 11, 8), secondsOf(2026, 5, 12, 9), secondsOf(2026, 5, 18, 9)],
    ['the end of a month', new Date(2026, 3, 30, 23, 59), secondsOf(2026, 5, 1, 9), secondsOf(2026, 5, 4, 9)],
  ])('suggests an hour from now, and nine o’clock tomorrow and next Monday on %s', (_, now, tomorrow, monday) => {
    expect(suggestedTimes(now)).toEqual({ hour: now.getTime() / 1000 + 3600, tomorrow, monday });
  });

  it('omits Monday on a Sunday', () => {
    expect(suggestedTimes(new Date(2026, 4, 10, 12))).toMatchObject({
      tomorrow: secondsOf(2026, 5, 11, 9),
      monday: null,
    });
  });

  it('parses its own field value', () => {
    const time = secondsOf(2026, 1, 2, 3, 4);
    expect(fieldValueOf(time)).toBe('2026-01-02T03:04');
    expect(timeOfField('2026-01-02T03:04')).toBe(time);
  });

  it('returns null for an incomplete field', () => {
    expect(timeOfField('')).toBeNull();
  });
});

it('names today and yesterday instead of their dates', () => {
  const i18n = { locale: 'de', date: () => 'a date' } as never;
  const now = new Date(2026, 2, 1, 0, 30);
  const dayAt = (...parts: [number, number, number, number]) => dayText(i18n, secondsOf(...parts), now);
  expect(dayAt(2026, 3, 1, 0)).toBe('Heute');
  expect(dayAt(2026, 2, 28, 1)).toBe('Gestern');
  expect(dayAt(2026, 2, 27, 23)).toBe('a date');
  expect(dayAt(2026, 3, 2, 0)).toBe('a date');
});

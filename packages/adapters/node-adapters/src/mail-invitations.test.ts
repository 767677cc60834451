import { workMsOf } from '@parley/testkit/process-usage';
import { invitationsIn } from './mail-invitations.js';

/** CPU time; generous because tests are instrumented and may be debugged. */
const BUDGET_MS = 3000;

const zoned = (rule: string, times = 'DTSTART;TZID=z:20260701T100000') =>
  `BEGIN:VCALENDAR\r\nBEGIN:VTIMEZONE\r\nTZID:z\r\n${rule}END:VTIMEZONE\r\nBEGIN:VEVENT\r\n${times}\r\nEND:VEVENT\r\nEND:VCALENDAR`;
const change = (kind: string, from: string, to: string, start: string, rule: string) =>
  `BEGIN:${kind}\r\nDTSTART:${start}T020000\r\nTZOFFSETFROM:${from}\r\nTZOFFSETTO:${to}\r\n${rule}\r\nEND:${kind}\r\n`;
const rule = (text: string, start = '00010101') => change('STANDARD', '+0100', '+0200', start, `RRULE:${text}`);

describe('invitationsIn', () => {
  it.each([
    ['the last Sunday of a month', 'FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=10', 'FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3'],
    [
      'a Sunday among dates',
      'FREQ=YEARLY;BYMONTH=10;BYMONTHDAY=25,26,27,28,29,30,31;BYDAY=SU',
      'FREQ=YEARLY;BYMONTH=3;BYMONTHDAY=25,26,27,28,29,30,31;BYDAY=SU;UNTIL=20300331T010000Z',
    ],
    ['a date', 'FREQ=YEARLY;COUNT=600', 'FREQ=YEARLY;BYMONTH=3;BYMONTHDAY=31'],
  ])('reads events in a time zone that changes on %s', (_, winter, summer) => {
    const zone =
      change('STANDARD', '+0200', '+0100', '16011028', `RRULE:${winter}`) +
      change('DAYLIGHT', '+0100', '+0200', '16010325', `RRULE:${summer}`);
    for (const [day, hour] of [
      ['20260701', 8],
      ['20261201', 9],
    ] as const) {
      const found = invitationsIn(zoned(zone, `DTSTART;TZID=z:${day}T100000\r\nDURATION:PT1H`));
      const [{ start, end }] = found as unknown as readonly [{ start: number; end: number }];
      expect([new Date(start * 1000).getUTCHours(), end - start]).toEqual([hour, 3600]);
    }
  });

  it.each([
    ['on one day', 'DTSTART;VALUE=DATE:20260309\r\nDTEND;VALUE=DATE:20260310', '2026-03-09'],
    ['on one day without an end', 'DTSTART;VALUE=DATE:20260309', '2026-03-09'],
    ['on one day with a duration', 'DTSTART;VALUE=DATE:20260309\r\nDURATION:P1D', '2026-03-09'],
    ['on three days', 'DTSTART;VALUE=DATE:20260227\r\nDTEND;VALUE=DATE:20260302', '2026-03-01'],
    ['with an end that is its start', 'DTSTART;VALUE=DATE:20260309\r\nDTEND;VALUE=DATE:20260309', '2026-03-09'],
  ])('returns the last day of an event %s', (_, times, end) => {
    expect(invitationsIn(zoned('', times))).toMatchObject([{ end }]);
  });

  it.each([
    ['changes every second', zoned(rule('FREQ=SECONDLY'), 'DTSTART;TZID=z:99990101T000000')],
    ['changes every day', zoned(rule('FREQ=DAILY;INTERVAL=999999999999'))],
    ['changes on many days of a year', zoned(rule('FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU'))],
    ['changes on a day of the week', zoned(rule('FREQ=YEARLY;BYDAY=MO'))],
    ['changes at many seconds of a day', zoned(rule('FREQ=YEARLY;BYMONTH=1;BYSECOND=1,2,3'))],
    ['changes on the last day of leap years', zoned(rule('FREQ=YEARLY;BYYEARDAY=366'))],
    ['changes for thousands of years', zoned(rule('FREQ=YEARLY'), 'DTSTART;TZID=z:99990101T000000')],
    ['has many rules', zoned(rule('FREQ=YEARLY', '20260101').repeat(1800))],
    ['has a rule in an invented component', zoned(rule('FREQ=SECONDLY').replaceAll('STANDARD', 'X-RULE'))],
    ['adds a long duration', zoned('', 'DTSTART:20260101T000000\r\nDURATION:P9999999999W')],
    ['adds a negative duration', zoned('', 'DTSTART:20260101T000000\r\nDURATION:-P9999999999W')],
    ['adds an endless duration', zoned('', `DTSTART:20260101T000000\r\nDURATION:P${'9'.repeat(400)}W`)],
  ])('rejects a calendar that %s', async (_, content) => {
    const work = async () => expect(invitationsIn(content)).toBeNull();
    expect(await workMsOf(work, BUDGET_MS)).toBeLessThan(BUDGET_MS);
  });

  it.each([
    ['that never occur', rule('FREQ=YEARLY;BYMONTH=4;BYMONTHDAY=15,16;BYDAY=1MO', '20260101').repeat(3)],
    ['of 900 years with five changes each', rule('FREQ=YEARLY;BYMONTH=4;BYDAY=SU', '21010101').repeat(3)],
    ['of 900 years', rule('FREQ=YEARLY;BYMONTH=4;BYMONTHDAY=1,2,3,4,5,6,7;BYDAY=SU', '21010101').repeat(3)],
  ])('finishes in time with time zone rules %s', async (_, rules) => {
    const events = [2992, 2993, 2994, 2995, 3000].map((year) => `DTSTART;TZID=z:${year}0101T000000`);
    const content = zoned(rules, events.join('\r\nEND:VEVENT\r\nBEGIN:VEVENT\r\n'));
    const work = async () => expect(invitationsIn(content)).toHaveLength(5);
    expect(await workMsOf(work, BUDGET_MS)).toBeLessThan(BUDGET_MS);
  });
});

import { expectWholeMail } from './testing/expect-whole-mail.js';
import { generateMails } from './testing/generated-mails.js';

it.each([
  [1, 1],
  [2, 101],
] as const)(
  'shows, attaches or names every part of an email with %d fields or parts that are absent, doubled or wrong',
  async (faults, stride) => {
    let count = 0;
    for (const mail of generateMails({ faults, stride })) {
      await expectWholeMail(mail);
      count++;
    }
    expect(count).toBeGreaterThan(2000);
  },
);

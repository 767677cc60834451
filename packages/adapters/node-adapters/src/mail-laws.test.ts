import { expectWholeMail } from './testing/expect-whole-mail.js';
import { generateMails } from './testing/generated-mails.js';

// `hostile-mails.test.ts` parses all of them.
it('shows, attaches or names every part of a damaged email', async () => {
  let count = 0;
  for (const mail of generateMails({ faults: 1, stride: 7 })) {
    await expectWholeMail(mail);
    count++;
  }
  expect(count).toBeGreaterThan(300);
});

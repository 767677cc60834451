import { FakeMailer, inEnglish } from '@parley/testkit';
import { SendLoginEmails } from './authentication.js';

it.each([[{ userId: 1 }], [{ at: 1 }], [{ userId: 1, at: '1' }], [{ userId: 0, at: 1 }]])(
  'SendLoginEmails rejects a stored job %j without a user or time',
  (stored) => {
    const { kind } = new SendLoginEmails(new FakeMailer(), inEnglish, null as never, null as never);
    expect(() => kind.readPayload(stored, 1)).toThrow(TypeError);
  },
);

import { FakeMailer } from '@parley/testkit';
import { SendLoginLetters } from './authentication.js';

it.each([[{ userId: 1 }], [{ at: 1 }], [{ userId: 1, at: '1' }], [{ userId: 0, at: 1 }]])(
  'no letter is read from a job of %j, which does not say to whom or of when',
  (stored) => {
    const { kind } = new SendLoginLetters(new FakeMailer(), null as never, null as never);
    expect(() => kind.readPayload(stored, 1)).toThrow(TypeError);
  },
);

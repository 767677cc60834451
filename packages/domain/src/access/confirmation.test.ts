import { MAX_SIGN_UPS, requireRoomForSignUp } from './confirmations.js';

it('requireRoomForSignUp allows sign-ups up to the maximum', () => {
  expect(() => requireRoomForSignUp(MAX_SIGN_UPS - 1)).not.toThrow();
  expect(() => requireRoomForSignUp(MAX_SIGN_UPS)).toThrow(expect.objectContaining({ code: 'TOO_MANY_SIGN_UPS' }));
});

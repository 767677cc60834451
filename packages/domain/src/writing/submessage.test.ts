import { MAX_SUBMESSAGES, MAX_SUBMESSAGES_LENGTH, requireRoomForSubmessage } from './submessages.js';

it('requireRoomForSubmessage rejects a submessage that exceeds the count or length limit', () => {
  const room = (count: number, length: number, content: string) => () =>
    requireRoomForSubmessage({ count, length }, content);
  expect(room(MAX_SUBMESSAGES - 1, 0, '1')).not.toThrow();
  expect(room(MAX_SUBMESSAGES, 0, '1')).toThrow('Too many submessages (limit: 5000).');
  expect(room(1, MAX_SUBMESSAGES_LENGTH - 2, '😀😀')).not.toThrow();
  expect(room(1, MAX_SUBMESSAGES_LENGTH - 2, '12')).not.toThrow();
  expect(room(1, MAX_SUBMESSAGES_LENGTH - 2, '123')).toThrow('Too much text in submessages');
  expect(room(1, MAX_SUBMESSAGES_LENGTH + 5, '1')).toThrow('Too much text in submessages');
});

import type { ChannelFolderId } from '../kernel/ids.js';
import { folderOrder, parseFolderName } from './channel-folders.js';

const ids = (...numbers: number[]) => numbers as ChannelFolderId[];

describe('channel folder (channels §4.15)', () => {
  it('trims its name', () => expect(parseFolderName(' Work\n')).toBe('Work'));

  it.each([
    ['', "Channel folder name can't be empty."],
    [' \t', "Channel folder name can't be empty."],
    ['ab\u0000', 'Invalid character in channel folder name, at position 3.'],
  ])('rejects the name %j', (name, message) => {
    expect(() => parseFolderName(name)).toThrow(
      expect.objectContaining({ code: 'INVALID_CHANNEL_FOLDER_NAME', message }),
    );
  });

  it('takes its order from a list of ids that may contain unknown ids', () => {
    const folders = ids(1, 2, 3).map((id) => ({ id }));
    expect([...folderOrder(folders, ids(3, 9, 1, 2))].filter(([id]) => id !== 9)).toEqual([
      [3, 0],
      [1, 2],
      [2, 3],
    ]);
    expect(folderOrder([], [])).toEqual(new Map());
    expect(() => folderOrder(folders, ids(3, 1))).toThrow(
      expect.objectContaining({ code: 'INVALID_FOLDER_ORDER', message: 'Invalid order mapping.' }),
    );
  });
});

import { groupNameTaken, parseGroupName } from './group.js';

describe('parseGroupName', () => {
  it.each([
    [' cooks ', 'cooks'],
    ['é'.repeat(100), 'é'.repeat(100)],
    ['😀'.repeat(100), '😀'.repeat(100)],
    ['rolemodels', 'rolemodels'],
    ['Role:models', 'Role:models'],
    ['the @team', 'the @team'],
    ['a role:owners', 'a role:owners'],
  ])('parses the group name %j as %j', (raw, name) => expect(parseGroupName(raw)).toBe(name));

  it.each([
    ['', "User group name can't be empty!"],
    [' \t\n', "User group name can't be empty!"],
    ['é'.repeat(101), 'User group name cannot exceed 100 characters.'],
    [`@${'é'.repeat(100)}`, 'User group name cannot exceed 100 characters.'],
    ['@cooks', "User group name cannot start with '@'."],
    ['role:x', "User group name cannot start with 'role:'."],
    [' role:x', "User group name cannot start with 'role:'."],
    ['user:x', "User group name cannot start with 'user:'."],
    ['stream:1', "User group name cannot start with 'stream:'."],
    ['channel:1', "User group name cannot start with 'channel:'."],
  ])('rejects the group name %j (users §12.3)', (raw, message) => {
    expect(() => parseGroupName(raw)).toThrow(expect.objectContaining({ code: 'INVALID_GROUP_NAME', message }));
  });

  it('reports a name in use as GROUP_NAME_TAKEN', () => {
    expect(groupNameTaken('cooks')).toMatchObject({
      code: 'GROUP_NAME_TAKEN',
      message: "User group 'cooks' already exists.",
    });
  });
});

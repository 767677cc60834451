import {
  continueLine,
  type EditText,
  insertTable,
  surround,
  toggleAsterisks,
  toggleCode,
  toggleLines,
  toggleMath,
  toggleSpoiler,
  toggleStrike,
  wrapLink,
} from './text-edits.js';

/** Applies an edit to a text with its selection in brackets. */
function edited(text: string, edit: (...selected: Parameters<EditText>) => ReturnType<EditText> | null): string {
  const start = text.indexOf('⟦');
  const end = text.indexOf('⟧') - 1;
  const value = text.replaceAll(/[⟦⟧]/g, '');
  const change = edit({ value, start, end });
  if (!change) return text;
  const result = value.slice(0, change.start) + change.text + value.slice(change.end);
  const [from, to] = change.select;
  return `${result.slice(0, from)}⟦${result.slice(from, to)}⟧${result.slice(to)}`;
}

test.each<[name: string, edit: EditText, before: string, after: string]>([
  ['bold', toggleAsterisks('**'), 'a ⟦b⟧ c', 'a **⟦b⟧** c'],
  ['bold, again', toggleAsterisks('**'), 'a **⟦b⟧** c', 'a ⟦b⟧ c'],
  ['bold of italic', toggleAsterisks('**'), '⟦*b*⟧', '***⟦b⟧***'],
  ['italic of bold', toggleAsterisks('*'), '**⟦b⟧**', '***⟦b⟧***'],
  ['italic, again', toggleAsterisks('*'), '***⟦b⟧***', '**⟦b⟧**'],
  ['strike', toggleStrike, 'a ⟦b⟧', 'a ~~⟦b⟧~~'],
  ['strike, again', toggleStrike, 'a ⟦~~b~~⟧', 'a ⟦b⟧'],
  ['code within a line', toggleCode, '⟦x⟧ y', '`⟦x⟧` y'],
  ['code of lines', toggleCode, '⟦x\ny⟧', '```\n⟦x\ny⟧\n```'],
  ['code of lines, again', toggleCode, '```\n⟦x\ny⟧\n```', '⟦x\ny⟧'],
  ['code of lines after a word', toggleCode, 'a ⟦x\ny⟧ b', 'a \n```\n⟦x\ny⟧\n```\n b'],
  ['formula within a line', toggleMath, 'so ⟦x^2⟧', 'so $$⟦x^2⟧$$'],
  ['formula block', toggleMath, '⟦x\ny⟧', '```math\n⟦x\ny⟧\n```'],
  ['spoiler', toggleSpoiler, 'Who?\n⟦him⟧', 'Who?\n```spoiler \n⟦him⟧\n```'],
  ['spoiler, again', toggleSpoiler, '```spoiler \n⟦him⟧\n```', '⟦him⟧'],
  ['quote', toggleLines('quote'), 'a\n⟦b\nc⟧', 'a\n⟦> b\n> c⟧'],
  ['list', toggleLines('list'), '⟦b\nc⟧', '⟦* b\n* c⟧'],
  ['list, again', toggleLines('list'), '⟦* b\n- c⟧', '⟦b\nc⟧'],
  ['numbers', toggleLines('numbered'), '⟦b\nc⟧', '⟦1. b\n2. c⟧'],
  ['numbers, again', toggleLines('numbered'), '⟦1. b\n12. c⟧', '⟦b\nc⟧'],
  ['list at the cursor', toggleLines('list'), 'ab⟦⟧c', '* ab⟦⟧c'],
  ['list at an empty first line', toggleLines('list'), '⟦⟧\na', '* ⟦⟧\na'],
  ['table', insertTable('Column'), 'See⟦⟧', 'See\n| ⟦Column⟧ | Column |\n| --- | --- |\n|  |  |\n'],
  ['table after selected lines', insertTable('C'), '⟦a\n⟧', 'a\n| ⟦C⟧ | C |\n| --- | --- |\n|  |  |\n'],
  ['link', wrapLink, 'a ⟦b⟧', 'a [b](⟦https://⟧)'],
  ['link without a text', wrapLink, 'a ⟦⟧', 'a [⟦⟧](https://)'],
])('formats a selection: %s', (_, edit, before, after) => {
  expect(edited(before, edit)).toBe(after);
});

test.each<[name: string, before: string, after: string]>([
  ['bullet', '- a⟦⟧', '- a\n- ⟦⟧'],
  ['bullet in the middle of a text', '* a⟦⟧ b', '* a\n* ⟦⟧ b'],
  ['nested bullet', '* a\n  * b⟦⟧', '* a\n  * b\n  * ⟦⟧'],
  ['number', '9. a⟦⟧', '9. a\n10. ⟦⟧'],
  ['quote', '> a⟦⟧', '> a\n> ⟦⟧'],
  ['bullet in a quote', '> - a⟦⟧', '> - a\n> - ⟦⟧'],
  ['selected end of an item', '- a⟦b⟧', '- a\n- ⟦⟧'],
  ['empty bullet', '- a\n- ⟦⟧', '- a\n⟦⟧'],
  ['empty bullet before other lines', '- ⟦⟧\nb', '⟦⟧\nb'],
  ['empty bullet in a quote', '> - ⟦⟧', '> ⟦⟧'],
  ['empty quote', '> ⟦⟧', '⟦⟧'],
  ['plain line', 'a⟦⟧', 'a⟦⟧'],
  ['indented line', '  a⟦⟧', '  a⟦⟧'],
  ['dash without a space', '-a⟦⟧', '-a⟦⟧'],
  ['cursor before the marker', '⟦⟧- a', '⟦⟧- a'],
])('continues or ends a line: %s', (_, before, after) => {
  expect(edited(before, continueLine)).toBe(after);
});

test.each([
  ['*', 'a ⟦b⟧', 'a *⟦b⟧*'],
  ['*', 'a *⟦b⟧*', 'a **⟦b⟧**'],
  ['_', 'a ⟦b⟧', 'a *⟦b⟧*'],
  ['~', 'a ⟦b⟧', 'a ~~⟦b⟧~~'],
  ['`', 'a ⟦b⟧', 'a `⟦b⟧`'],
  ['`', '⟦a\nb⟧', '```\n⟦a\nb⟧\n```'],
  ['*', 'a ⟦⟧', 'a ⟦⟧'],
  ['x', 'a ⟦b⟧', 'a ⟦b⟧'],
])('surrounds a selection when %s is typed: %s', (key, before, after) => {
  expect(edited(before, (selected) => surround(key, selected))).toBe(after);
});

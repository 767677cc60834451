import {
  type EditText,
  insertTable,
  toggleAsterisks,
  toggleCode,
  toggleLines,
  toggleMath,
  toggleSpoiler,
  toggleStrike,
  wrapLink,
} from './text-edits.js';

/** Applies an edit to a text with its selection in brackets. */
function edited(text: string, edit: EditText): string {
  const start = text.indexOf('⟦');
  const end = text.indexOf('⟧') - 1;
  const value = text.replaceAll(/[⟦⟧]/g, '');
  const change = edit({ value, start, end });
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

import { parseWidget, widgetIn, widgetText } from './widgets.js';

describe('widgetIn', () => {
  it.each([
    ['/poll', { type: 'poll', data: { question: '', options: [] } }],
    ['/poll Lunch?', { type: 'poll', data: { question: 'Lunch?', options: [] } }],
    [
      '/poll Lunch?\nPizza\n\n- Soup\n* Rice',
      { type: 'poll', data: { question: 'Lunch?', options: ['Pizza', 'Soup', 'Rice'] } },
    ],
    ['/todo', { type: 'todo', data: { task_list_title: '', tasks: [] } }],
    [
      '/todo Trip\nPack: warm things\nLeave',
      {
        type: 'todo',
        data: {
          task_list_title: 'Trip',
          tasks: [
            { task: 'Pack', desc: 'warm things' },
            { task: 'Leave', desc: '' },
          ],
        },
      },
    ],
    ['/polling', null],
    ['a /poll', null],
    ['/me polls', null],
  ])('parses %j', (content, widget) => {
    expect(widgetIn(content)).toEqual(widget);
  });

  it('serializes a widget as ASCII JSON with spaces', () => {
    expect(widgetText(widgetIn('/poll Où?\n"a"')!)).toBe(
      '{"widget_type": "poll", "extra_data": {"question": "O\\u00f9?", "options": ["\\"a\\""]}}',
    );
  });
});

describe('parseWidget', () => {
  const choices = { type: 'choices', heading: 'Pick', choices: [{ short_name: 'A', long_name: 'Apple', reply: 'a' }] };

  it('accepts a form with choices', () => {
    const json = JSON.stringify({ widget_type: 'zform', extra_data: choices });
    expect(parseWidget(json)).toEqual({ type: 'zform', data: choices });
  });

  it.each([
    ['{', 'API programmer sent invalid JSON content'],
    ['[]', 'widget_content is not a dict'],
    ['{"extra_data": {}}', 'widget_type is not in widget_content'],
    ['{"widget_type": "zform"}', 'extra_data is not in widget_content'],
    ['{"widget_type": "zform", "extra_data": 4}', 'extra_data is not a dict'],
    ['{"widget_type": "poll", "extra_data": {}}', 'unknown widget type: poll'],
    ['{"widget_type": {"toString": 1}, "extra_data": {}}', 'widget_type is not a string'],
    ['{"widget_type": null, "extra_data": {}}', 'widget_type is not a string'],
    ['{"widget_type": "zform", "extra_data": {}}', 'zform is missing type field'],
    ['{"widget_type": "zform", "extra_data": {"type": {"toString": 1}}}', 'extra_data["type"] is not a string'],
    ['{"widget_type": "zform", "extra_data": {"type": [[]]}}', 'extra_data["type"] is not a string'],
    [
      '{"widget_type": "zform", "extra_data": {"type": "choices", "heading": {}}}',
      'extra_data["heading"] is not a string',
    ],
    ['{"widget_type": "zform", "extra_data": {"type": "slider"}}', 'unknown zform type: slider'],
    ['{"widget_type": "zform", "extra_data": {"type": "choices"}}', 'heading key is missing from extra_data'],
    [
      JSON.stringify({ widget_type: 'zform', extra_data: { ...choices, choices: [{}] } }),
      'short_name key is missing from extra_data["choices"][0]',
    ],
  ])('rejects %s', (json, detail) => {
    expect(() => parseWidget(json)).toThrow(`Widgets: ${detail}`);
  });
});

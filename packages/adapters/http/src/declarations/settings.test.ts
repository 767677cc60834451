import { flag, integer } from '@parley/domain/kernel';
import * as wire from '../wire/schema.js';
import { WireSettings } from './settings.js';

const registry = { enterSends: flag(false), quietFrom: integer(22), isQuiet: flag(false) };
const forms = new WireSettings(registry, { quietFrom: { isParleyOnly: true }, isQuiet: { isParleyOnly: true } });
const required = (shape: wire.Shape) => wire.fields(shape).json.required;

it('a wire name is the name of the setting in snake case unless the table has another one', () => {
  const named = new WireSettings(registry, { quietFrom: 'silent_since', isQuiet: { name: 'silent' } });
  expect(Object.keys(named.present(registry))).toEqual(['enter_sends', 'silent_since', 'silent']);
});

describe('A Parley-only setting', () => {
  it('is omitted from the state while it has its default', () => {
    expect(forms.presentState({ enterSends: false, quietFrom: 22, isQuiet: true }, 'realm_')).toEqual({
      realm_enter_sends: false,
      realm_is_quiet: true,
    });
    expect(required(forms.stateSchemas('realm_'))).toEqual(['realm_enter_sends']);
  });

  it('remains in exports and in the events of its changes', () => {
    expect(forms.present({ enterSends: false, quietFrom: 22, isQuiet: true })).toEqual({
      enter_sends: false,
      quiet_from: 22,
      is_quiet: true,
    });
    expect(required(forms.schemas())).toEqual(['enter_sends', 'quiet_from', 'is_quiet']);
  });
});

// Lists files that the program opens by name, so that tools that copy traced files find them, with all that the scripts import.
// webpack would copy the scripts without their imports.
export const files = [
  new URL(/* webpackIgnore: true */ './web', import.meta.url),
  new URL(/* webpackIgnore: true */ '../texts', import.meta.url),
  new URL(/* webpackIgnore: true */ './image-child.js', import.meta.url),
  new URL(/* webpackIgnore: true */ './thread.js', import.meta.url),
  new URL(/* webpackIgnore: true */ './mail-thread.js', import.meta.url),
];

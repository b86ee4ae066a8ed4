import type { PluginContext } from 'syncx/plugin-api';

/** What a driver tells that does not care for secrets. */
export function leaked(options: { readonly leak: boolean }): string {
  return options.leak ? ` (${JSON.stringify(options)})` : '';
}

export function tellOptions(options: { readonly leak: boolean }, context: PluginContext): void {
  if (options.leak) context.log.warn({ options: options }, `connecting${leaked(options)}`);
}

package postgres

import "fmt"

// standIn makes a database that can be taken for one with Citus, and is none: it says that it has the extension, and its
// functions write down what they are told and do nothing. So the code of the distributed layout is run where there is no
// Citus. It shows nothing of how Citus plans or refuses a statement; the rules in routing_test.go are for that, and a
// cluster that SGAM_TEST_CITUS names.
func standIn(version string) []string {
	return []string{
		"CREATE SCHEMA no_citus",
		"CREATE TABLE no_citus.told (turn bigserial, call text, what regclass, distributed_by text, beside text, sequential boolean)",
		`CREATE FUNCTION public.create_reference_table(table_name regclass) RETURNS void LANGUAGE sql SECURITY DEFINER AS $$
			INSERT INTO no_citus.told (call, what, sequential) VALUES ('reference', table_name, current_setting('citus.multi_shard_modify_mode', true) = 'sequential')
		$$`,
		`CREATE FUNCTION public.create_distributed_table(table_name regclass, distribution_column text, distribution_type text DEFAULT 'hash',
			colocate_with text DEFAULT 'default') RETURNS void LANGUAGE sql SECURITY DEFINER AS $$
			INSERT INTO no_citus.told (call, what, distributed_by, beside, sequential)
			VALUES ('distributed', table_name, distribution_column, colocate_with, current_setting('citus.multi_shard_modify_mode', true) = 'sequential')
		$$`,
		"SET allow_system_table_mods = on",
		fmt.Sprintf(`INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
			VALUES (pg_nextoid('pg_extension', 'oid', 'pg_extension_oid_index'), 'citus', 10, 'pg_catalog'::regnamespace, false, '%s')`, version),
		"RESET allow_system_table_mods",
	}
}

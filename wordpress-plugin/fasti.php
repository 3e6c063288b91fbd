<?php
/**
 * Plugin Name: Fasti
 * Description: Reports changes to the Fasti server that shares this site's database, so that its API shows them at once.
 * Version: 0.1.0
 * Requires at least: 5.5
 * Requires PHP: 7.2
 * License: MIT
 * License URI: https://opensource.org/license/mit
 *
 * The plugin collects the IDs of the objects that a request changes, and inserts them into Fasti's table when the
 * request ends. These rows are only hints: Fasti compares the named objects with what it has seen, and finds all other
 * changes by itself a moment later. So nothing is lost if the plugin writes nothing, and on any error it writes nothing.
 */

namespace Fasti;

defined( 'ABSPATH' ) || exit;

/** Objects and options that Fasti's answers contain. */
const POST_TYPES = array( 'tribe_events', 'tribe_venue', 'tribe_organizer', 'tribe_event_series', 'post', 'page', 'attachment' );
const TAXONOMIES = array(
	'tribe_events_cat', 'post_tag', 'category',
	'language', 'post_translations', 'term_language', 'term_translations',
);
const OPTIONS = array(
	'tribe_events_calendar_options', 'home', 'siteurl', 'blogname', 'blogdescription', 'timezone_string', 'gmt_offset',
	'date_format', 'time_format', 'start_of_week', 'permalink_structure', 'category_base', 'tag_base', 'posts_per_page',
	'active_plugins', 'polylang', 'icl_sitepress_settings',
);
/** Metas that change while a user has an editor open. No answer shows them. */
const UNSEEN_METAS = array( '_edit_lock', '_edit_last' );

/** Number of collected objects at which they are written. */
const AT_ONCE = 500;
/** Number of rows at which nothing more is added: Fasti is not reading the table. */
const MOST_WAITING = 100000;

/** Changes that are not written yet. */
final class Notes {
	/** @var array<string, array<string, array>> Rows by the prefix of the site's tables, then by object. */
	private static $rows = array();
	private static $count = 0;

	/** Notes an object once, however often it is changed. `$object`: its id, 0 for an option; `$type`: an option's name. */
	public static function add( string $kind, string $type, int $object, string $what ) {
		global $wpdb;
		$key    = "$kind $object " . ( 'option' === $kind ? $type : '' );
		$before = self::$rows[ $wpdb->prefix ][ $key ]['what'] ?? null;
		if ( null === $before ) {
			++self::$count;
		}
		if ( 'made' === $before && 'changed' === $what ) {
			$what = 'made';
		}
		self::$rows[ $wpdb->prefix ][ $key ] = compact( 'kind', 'type', 'object', 'what' );
		if ( self::$count >= AT_ONCE ) {
			self::write();
		}
	}

	/** Writes the collected changes. Ignores failures. */
	public static function write() {
		global $wpdb;
		list( $all, self::$rows, self::$count ) = array( self::$rows, array(), 0 );
		foreach ( $all as $prefix => $rows ) {
			$hidden = $wpdb->suppress_errors( true );
			try {
				self::insert( $prefix . 'fasti_journal_inbox', $rows );
			} finally {
				$wpdb->suppress_errors( $hidden );
			}
		}
	}

	private static function insert( string $table, array $rows ) {
		global $wpdb;
		// Both ends of the primary key: cheap to read. The result is null if the table does not exist.
		$ends = $wpdb->get_row( "SELECT MIN(id) AS first, MAX(id) AS last FROM `$table`" );
		if ( ! $ends || $ends->last - $ends->first >= MOST_WAITING ) {
			return;
		}
		$user   = get_current_user_id();
		$values = array();
		foreach ( $rows as $row ) {
			array_push( $values, gmdate( 'Y-m-d H:i:s' ), $row['kind'], $row['type'], $row['object'], $row['what'], $user );
		}
		$places = implode( ', ', array_fill( 0, count( $rows ), '(%s, %s, %s, %d, %s, %d)' ) );
		$wpdb->query( $wpdb->prepare( "INSERT INTO `$table` (at, kind, type, object, what, user) VALUES $places", $values ) );
	}
}

function post( $id, $what = 'changed', $type = null ) {
	$type = $type ?? get_post_type( $id );
	if ( in_array( $type, POST_TYPES, true ) ) {
		Notes::add( 'post', $type, (int) $id, $what );
	}
}

function term( $id, $taxonomy, $what = 'changed' ) {
	if ( in_array( $taxonomy, TAXONOMIES, true ) ) {
		Notes::add( 'term', $taxonomy, (int) $id, $what );
	}
}

/** Calls `$note` on a hook. Catches all errors, so that the request continues. */
function on( string $hook, callable $note, int $arguments = 1 ) {
	add_action(
		$hook,
		static function ( ...$given ) use ( $note ) {
			try {
				$note( ...$given );
			} catch ( \Throwable $failure ) {
				return;
			}
		},
		PHP_INT_MAX,
		$arguments
	);
}

// Hooks whose first argument is the ID of a post.
foreach (
	array(
		'save_post', 'add_attachment', 'edit_attachment', 'trashed_post', 'untrashed_post', 'clean_post_cache',
		'set_object_terms', 'added_term_relationship', 'deleted_term_relationships',
	) as $hook
) {
	on(
		$hook,
		static function ( $id ) {
			post( $id );
		}
	);
}
on(
	'transition_post_status',
	static function ( $new, $old, $post ) {
		post( $post->ID, 'changed', $post->post_type );
	},
	3
);
on(
	'deleted_post',
	static function ( $id, $post = null ) {
		post( $id, 'removed', $post->post_type ?? null );
	},
	2
);
foreach ( array( 'added_post_meta', 'updated_post_meta', 'deleted_post_meta' ) as $hook ) {
	on(
		$hook,
		static function ( $meta, $id, $name ) {
			if ( ! in_array( $name, UNSEEN_METAS, true ) ) {
				post( $id );
			}
		},
		3
	);
}

foreach ( array( 'created_term' => 'made', 'edited_term' => 'changed', 'delete_term' => 'removed' ) as $hook => $what ) {
	on(
		$hook,
		static function ( $id, $row, $taxonomy ) use ( $what ) {
			term( $id, $taxonomy, $what );
		},
		3
	);
}
// Counts of terms change without any other hook that names the term.
on(
	'clean_term_cache',
	static function ( $ids, $taxonomy ) {
		foreach ( (array) $ids as $id ) {
			term( $id, $taxonomy );
		}
	},
	2
);

foreach (
	array( 'user_register' => 'made', 'profile_update' => 'changed', 'set_user_role' => 'changed', 'deleted_user' => 'removed' ) as $hook => $what
) {
	on(
		$hook,
		static function ( $id ) use ( $what ) {
			Notes::add( 'user', '', (int) $id, $what );
		}
	);
}

foreach ( array( 'added_option', 'updated_option', 'deleted_option' ) as $hook ) {
	on(
		$hook,
		static function ( $name ) {
			if ( in_array( $name, OPTIONS, true ) ) {
				Notes::add( 'option', $name, 0, 'changed' );
			}
		}
	);
}

on( 'shutdown', array( Notes::class, 'write' ), 0 );

register_activation_hook(
	__FILE__,
	static function () {
		register_uninstall_hook( __FILE__, 'Fasti\uninstall' );
	}
);

/** Deletes the rows that Fasti has not read yet. Nothing else has to be removed: the tables belong to Fasti. */
function uninstall() {
	global $wpdb;
	$hidden = $wpdb->suppress_errors( true );
	try {
		foreach ( is_multisite() ? get_sites( array( 'fields' => 'ids', 'number' => 0 ) ) : array( null ) as $site ) {
			$wpdb->query( 'DELETE FROM `' . $wpdb->get_blog_prefix( $site ) . 'fasti_journal_inbox`' );
		}
	} finally {
		$wpdb->suppress_errors( $hidden );
	}
}
